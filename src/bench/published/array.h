/* SPDX-License-Identifier: MIT */
/*
 * Array lock. T. Anderson, "The performance of spin lock alternatives for shared-memory
 * multiprocessors", TPDS 1990; the release closes the slot, as in libslock.
 *
 *   next  the number of slots drawn so far
 *   slot  one per thread, or 512 in the lock study's library, on a line of its own: 1
 *         if the thread that drew it holds the lock (inverted for the first one,
 *         because memory is zeroed and that slot is initially open)
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

enum { PUBLISHED_STUDY_SLOTS = 512 };

static inline uint32_t published_array_slots(int how)
{
    return how & PUBLISHED_STUDY ? PUBLISHED_STUDY_SLOTS : published_threads();
}

static inline struct published_array published_array_of(struct lock *lock, int how)
{
    size_t states = published_threads() * sizeof(struct published_thread_state);
    size_t slots = published_array_slots(how) * sizeof(struct published_slot);
    char *body = published_body(lock, states + slots);
    return (struct published_array){(void *)body, (void *)(body + states)};
}

static inline void published_slot_set(const struct published_array *array,
                                      uint32_t index, bool open)
{
    store_release(&array->slots[index].turned, open != (index == 0));
}

static inline void published_array_lock(struct lock *lock, int how)
{
    const struct published_array array = published_array_of(lock, how);
    struct published_thread_state *self = &array.states[published_thread()];
    (void)load_relaxed(&self->lock);
    uint32_t drawn = fetch_add_relaxed(&lock->state[0], 1);
    uint32_t mine = drawn % published_array_slots(how);
    store_relaxed(&self->mine, mine);
    struct atomic_u32 *turned = &array.slots[mine].turned;
    published_spin(turned, how & PUBLISHED_PREFETCH,
                   load_acquire(turned) != (mine == 0));
}

/* Draws a slot only if it is open, as the lock study's library does. */
static inline bool published_array_trylock(struct lock *lock, int how)
{
    const struct published_array array = published_array_of(lock, how);
    uint32_t next = load_relaxed(&lock->state[0]);
    uint32_t mine = next % published_array_slots(how);
    if (load_acquire(&array.slots[mine].turned) == (mine == 0) ||
        !acquire_if(&lock->state[0], next, next + 1))
        return false;
    store_relaxed(&array.states[published_thread()].mine, mine);
    return true;
}

static inline void published_array_unlock(struct lock *lock, int how)
{
    const struct published_array array = published_array_of(lock, how);
    struct published_thread_state *self = &array.states[published_thread()];
    (void)load_relaxed(&self->lock);
    uint32_t mine = load_relaxed(&self->mine);
    published_slot_set(&array, mine, false);
    published_slot_set(&array, (mine + 1) % published_array_slots(how), true);
}

#endif
