/* SPDX-License-Identifier: MIT */
/*
 * Partitioned ticket lock. D. Dice, "Brief announcement: a partitioned ticket lock",
 * SPAA 2011; with a slot for each NUMA node, as in the lock study's library.
 *
 *   next, mine  on one line: the number that the next arrival draws, and the holder's
 *   slot        on a line of its own: a number that maps to it and is served
 */
#ifndef HASP_BENCH_PUBLISHED_PARTITIONED_H
#define HASP_BENCH_PUBLISHED_PARTITIONED_H

#include "bench/published/body.h"

struct published_partition {
    struct atomic_u32 served;
} PUBLISHED_ALONE;

struct published_partitioned {
    struct atomic_u32 *next, *mine;
    struct published_partition *slots;
};

static inline struct published_partitioned published_partitioned_of(struct lock *lock)
{
    return (struct published_partitioned){
        &lock->state[0], &lock->state[1],
        published_body(lock, node_count() * sizeof(struct published_partition))};
}

static inline struct atomic_u32 *
published_partitioned_slot(const struct published_partitioned *own, uint32_t number)
{
    return &own->slots[number % node_count()].served;
}

static inline void published_partitioned_lock(struct lock *lock)
{
    const struct published_partitioned own = published_partitioned_of(lock);
    uint32_t mine = fetch_add_relaxed(own.next, 1);
    struct atomic_u32 *served = published_partitioned_slot(&own, mine);
    (void)relax_at_most(1); /* the loop below does not watch lines read before */
    spin_until(load_acquire(served) == mine);
    store_relaxed(own.mine, mine);
}

/* Draws a number only if it is being served; may have to wait after all, as a number
 * cannot be given back. */
static inline bool published_partitioned_trylock(struct lock *lock)
{
    const struct published_partitioned own = published_partitioned_of(lock);
    uint32_t next = load_relaxed(own.next);
    if (load_relaxed(published_partitioned_slot(&own, next)) != next)
        return false;
    published_partitioned_lock(lock);
    return true;
}

static inline void published_partitioned_unlock(struct lock *lock)
{
    const struct published_partitioned own = published_partitioned_of(lock);
    uint32_t next = load_relaxed(own.mine) + 1;
    store_release(published_partitioned_slot(&own, next), next);
}

#endif
