/* SPDX-License-Identifier: MIT */
/*
 * Array lock. T. Anderson, "The performance of spin lock alternatives for shared-memory
 * multiprocessors", TPDS 1990; a slot is closed by the release, as in libslock.
 *
 *   next  how many slots were drawn
 *   slot  one for each CPU, on a line of its own: whether whoever drew it has the lock
 *         (of the first one: has not, since memory is zeroed and that is open at first)
 *   mine, of a thread's part: its slot
 */
#ifndef HASP_BENCH_PUBLISHED_ARRAY_H
#define HASP_BENCH_PUBLISHED_ARRAY_H

#include "bench/published/body.h"

struct published_slot {
    struct atomic_u32 turned; /* open, or for the first one: closed */
} PUBLISHED_ALONE;

struct published_array {
    struct published_part *parts;
    struct published_slot *slots;
};

static inline struct published_array published_array_of(struct lock *lock)
{
    size_t parts = cpu_count() * sizeof(struct published_part);
    char *body =
        published_body(lock, parts + cpu_count() * sizeof(struct published_slot));
    return (struct published_array){(void *)body, (void *)(body + parts)};
}

static inline void published_slot_set(const struct published_array *array,
                                      uint32_t index, bool open)
{
    store_release(&array->slots[index].turned, open != (index == 0));
}

static inline void published_array_lock(struct lock *lock, bool prefetch)
{
    const struct published_array array = published_array_of(lock);
    struct published_part *self = &array.parts[published_thread()];
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
    struct published_part *self = &array.parts[published_thread()];
    (void)load_relaxed(&self->lock);
    uint32_t mine = load_relaxed(&self->mine);
    published_slot_set(&array, mine, false);
    published_slot_set(&array, (mine + 1) % cpu_count(), true);
}

#endif
