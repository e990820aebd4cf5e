/* SPDX-License-Identifier: MIT */
#include "profiler/counts.h"

#include "profiler/registry.h"
#include "profiler/stacks.h"
#include "profiler/uses.h"

#include <string.h>

enum { PLACE_BYTES = sizeof(struct trace_count), WAYS = 4 };

_Static_assert(PLACE_BYTES == 64 && sizeof(struct trace_chunk) == 64,
               "the header of a chunk is one place of its table");

bool counts_make(struct recording *me)
{
    struct trace_chunk *chunk = NULL;
    if (!file_is_nearly_full())
        chunk = file_chunks(TRACE_COUNTS, PLACE_BYTES, 1);
    if (chunk) {
        chunk->writer = me->thread;
        chunk->used = TRACE_CHUNK / PLACE_BYTES - 1;
        me->shared->counts = file_chunk_number(chunk);
        me->counts = (unsigned char *)chunk;
    } else { /* merged into the locks' records at the end */
        me->counts = map_pages(TRACE_CHUNK);
        trace->lost_counts++;
    }
    me->counts_mask = TRACE_CHUNK - PLACE_BYTES;
    return me->counts != NULL;
}

static void give_up(struct trace_count *count)
{
    if (count->lock) {
        struct trace_lock *lock = registry_record(count->lock);
        add_shared(&lock->acquisitions, count->acquisitions);
        add_shared(&lock->contended, count->contended);
        add_shared(&lock->wait_ticks, count->wait_ticks);
        add_shared(&lock->hold_ticks, count->hold_ticks);
        add_shared(&lock->owner_changes, count->owner_changes);
        add_shared(&lock->node_changes, count->node_changes);
    }
    memset(count, 0, sizeof *count);
}

void counts_merge(struct recording *me)
{
    for (uint64_t place = 0; place <= me->counts_mask; place += PLACE_BYTES)
        if (place % TRACE_CHUNK)
            give_up((void *)(me->counts + place));
}

/* The key's entry if it has one, else the place where it shall be. */
static struct trace_count *look(const struct recording *me, uintptr_t key)
{
    uint64_t first = record_place(key, me->counts_mask);
    struct trace_count *free = NULL, *least = NULL;
    for (unsigned way = 0; way < WAYS; way++) {
        uint64_t place = first ^ way * PLACE_BYTES;
        if (place % TRACE_CHUNK == 0)
            continue;
        struct trace_count *count = (void *)(me->counts + place);
        if (count->address == key)
            return count;
        if (!count->address && !free)
            free = count;
        else if (!least || count->acquisitions < least->acquisitions)
            least = count;
    }
    return free ? free : least;
}

/* A hold under way keeps a pointer to its entry. */
static void detach_holds(struct recording *me, const struct trace_count *count)
{
    for (uint32_t i = 0; i < me->depth; i++)
        if (me->hold[i].count == count)
            me->hold[i].count = NULL;
}

static uint32_t make_known(struct recording *me, uintptr_t address,
                           const struct record_as *as, void *caller)
{
    uint32_t number = registry_find(address);
    if (number)
        return number;
    struct registry_origin origin = {
        .as = as,
        .flags = TRACE_STATIC,
        .stack = stack_of_origin(me, caller),
        .thread = me->thread,
        .born = ticks(),
    };
    origin.site = stack_site(origin.stack);
    return registry_add(address, &origin);
}

static void fill(struct recording *me, struct trace_count *count, uintptr_t key,
                 const struct record_as *as, void *caller)
{
    uintptr_t address = record_address(key, as->operation);
    uint32_t number = make_known(me, address, as, caller);
    detach_holds(me, count);
    give_up(count);
    count->lock = number;
    count->site =
        number ? registry_locks[number].site : stack_site(stack_of_origin(me, caller));
    count->private = (uintptr_t)use_find(me, count->site, as->operation, as->lock_kind);
    store_release((struct atomic_u64 *)(void *)&count->address, key);
}

struct trace_count *counts_find(struct recording *me, uintptr_t key,
                                const struct record_as *as, void *caller)
{
    struct trace_count *count = look(me, key);
    uintptr_t address = record_address(key, as->operation);
    if (count->address != key || (count->lock && !registry_still(count->lock, address)))
        fill(me, count, key, as, caller);
    return count;
}
