/* SPDX-License-Identifier: MIT */
/*
 * Array lock. T. Anderson, "The performance of spin lock alternatives for shared-memory
 * multiprocessors", TPDS 1990; the release closes the slot, as in libslock.
 *
 *   next  the number of slots drawn so far
 *   slot  one per CPU, on a line of its own: 1 if the thread that drew it holds the
 *         lock (inverted for the first one, because memory is zeroed and that slot is
 *         initially open)
 *   mine  of a thread's state: its slot
 */
#ifndef HASP_BENCH_PUBLISHED_ARRAY_H
#define HASP_BENCH_PUBLISHED_ARRAY_H

#include "bench/published/body.h"

struct published_slot {
    struct atomic_u32 turned; /* open; for the first slot: closed */
} PUBLISHED_ALONE;

struct published_array {
    struct published_thread_state *states;
    struct published_slot *slots;
};

static inline struct published_array published_array_of(struct lock *lock)
{
    size_t states = cpu_count() * sizeof(struct published_thread_state);
    char *body =
        published_body(lock, states + cpu_count() * sizeof(struct published_slot));
    return (struct published_array){(void *)body, (void *)(body + states)};
}

static inline void published_slot_set(const struct published_array *array,
                                      uint32_t index, bool open)
{
    store_release(&array->slots[index].turned, open != (index == 0));
}

static inline void published_array_lock(struct lock *lock, bool prefetch)
{
    const struct published_array array = published_array_of(lock);
    struct published_thread_state *self = &array.states[published_thread()];
    (void)load_relaxed(&self->lock);
    uint32_t mine = fetch_add_relaxed(&lock->state[0], 1) % cpu_count();
    store_relaxed(&self->mine, mine);
    struct atomic_u32 *turned = &array.slots[mine].turned;
    published_spin(turned, prefetch, load_acquire(turned) != (mine == 0));
}

static inline void published_array_unlock(struct lock *lock, bool prefetch)
{
    (void)prefetch;
    const struct published_array array = published_array_of(lock);
    struct published_thread_state *self = &array.states[published_thread()];
    (void)load_relaxed(&self->lock);
    uint32_t mine = load_relaxed(&self->mine);
    published_slot_set(&array, mine, false);
    published_slot_set(&array, (mine + 1) % cpu_count(), true);
}

#endif
