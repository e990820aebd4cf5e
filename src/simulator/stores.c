/* SPDX-License-Identifier: MIT */
#include "simulator/stores.h"
#include "simulator/cells.h"
#include "simulator/event_loop.h"
#include "simulator/marks.h"
#include "simulator/requests.h"

static struct store *oldest(struct thread *thread)
{
    return &thread->store[thread->stores_first];
}

void write_cell(const struct thread *thread, struct line *line, void *address,
                uint32_t size, uint64_t value, uint64_t time)
{
    if (__builtin_expect(line->marks != 0, 0))
        marks_meet(line, thread, true);
    line->last_writer = thread->index;
    if (cell_value(address, size) == value)
        return;
    set_cell(address, size, value);
    progress_at = time;
}

const struct store *find_store(const struct thread *self, const void *address)
{
    for (unsigned i = self->stores; i; i--) {
        const struct store *store =
            &self->store[(self->stores_first + i - 1) % STORES_MAX];
        if (store->address == address)
            return store;
    }
    return NULL;
}

/* Returns when the oldest store takes effect: now, or when its line arrives. */
static uint64_t due(struct thread *thread, uint64_t now)
{
    struct line *line = line_at(oldest(thread)->line);
    uint64_t at = writable_at(line, thread, now);
    thread->store_requested = at == UINT64_MAX;
    return thread->store_requested ? request(line, thread, MACHINE_STORE, now) : at;
}

static void apply_oldest(struct thread *thread, uint64_t time)
{
    const struct store *store = oldest(thread);
    struct line *line = line_at(store->line);
    write_cell(thread, line, store->address, store->size, store->value, time);
    if (!thread->store_requested)
        watchers_miss(line, thread, time);
    /* An empty buffer begins again where the host has it in its cache. */
    thread->stores_first =
        --thread->stores ? (uint8_t)((thread->stores_first + 1) % STORES_MAX) : 0;
}

void store_commits(struct thread *thread, uint64_t time)
{
    apply_oldest(thread, time);
    while (thread->stores) {
        uint64_t at = due(thread, time);
        if (at > time) {
            event_push(at, EVENT_COMMIT, thread->index);
            break;
        }
        apply_oldest(thread, time);
    }
    if (thread->state == THREAD_STORES ||
        (thread->state == THREAD_DRAINS && !thread->stores))
        resume_at(thread, later(time, thread->now));
}

void store(struct thread *self, struct line *line, void *address, uint32_t size,
           uint64_t value)
{
    if (!self->stores && writable_at(line, self, self->now) == self->now) {
        write_cell(self, line, address, size, value, self->now);
        watchers_miss(line, self, self->now);
        return;
    }
    if (self->stores == machine.model.store_buffer) {
        self->state = THREAD_STORES;
        block();
    }
    unsigned place = (self->stores_first + self->stores++) % STORES_MAX;
    self->store[place] = (struct store){address, value, line_number(line), size};
    if (self->stores == 1)
        event_push(due(self, self->now), EVENT_COMMIT, self->index);
}

void drain_slowly(struct thread *self)
{
    self->state = THREAD_DRAINS;
    block();
}
