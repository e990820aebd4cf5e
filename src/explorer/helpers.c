/* SPDX-License-Identifier: MIT */
/* What clients may ask of the explorer. */
#include "explorer/clients.h"
#include "explorer/model.h"

void expect(bool condition, const char *text)
{
    if (!condition)
        fail("assertion", "%s", text);
}

void begin_operation(void)
{
    struct thread *self = &model.thread[model.running];
    self->turn.steps = self->turn.writes = 0;
    self->reads = self->spins = self->read_clock = self->read_deadline = 0;
}

const struct deadline *new_deadline(void)
{
    static const struct deadline some_time = {CLOCK_MONOTONIC, {1000000000, 0}};
    model.thread[model.running].struck = 0;
    return &some_time;
}

void move_to_node(unsigned node)
{
    model.thread[model.running].node = (uint8_t)node;
}

void watch_waiters(void)
{
    for (int t = 0; t < FINISHER; t++) {
        uint8_t operation = model.thread[t].request.operation;
        model.thread[t].watched = operation == OP_RELAX || operation == OP_ASLEEP;
    }
}

static bool is_of_the_lock(const void *address)
{
    const char *at = address, *lock = (const char *)&client_lock;
    return at >= lock && at < lock + sizeof client_lock;
}

static void expect_there(const void *address)
{
    if (model.gone && is_of_the_lock(address))
        fail("touched late", "%s, when the lock is gone", cell_name(address));
}

/* Nothing that somebody stored there may come later, either. */
void lock_is_gone(void)
{
    const struct thread *self = &model.thread[model.running];
    uint16_t places[MESSAGES];
    model.gone = 1;
    for (uint16_t c = 0; c < known.cells; c++)
        if (is_of_the_lock(place_of_index(c)->address) && message_count(c) > 1 &&
            store_choices(self, c, places) > 1)
            expect_there(place_of_index(c)->address);
}

void expect_in_use(const void *address, bool writes)
{
    expect_there(address);
    pool_expect_use(address, writes);
}
