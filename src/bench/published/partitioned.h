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

static inline struct atomic_u32 *
published_partition_slot(struct published_partition *slots, uint32_t number)
{
    return &slots[number % node_count()].served;
}

/* Draws a number, and returns it once it is served. */
static inline uint32_t published_partition_acquire(struct atomic_u32 *next,
                                                   struct published_partition *slots)
{
    uint32_t mine = fetch_add_relaxed(next, 1);
    struct atomic_u32 *served = published_partition_slot(slots, mine);
    (void)relax_at_most(1); /* the loop below does not watch lines read before */
    spin_until(load_acquire(served) == mine);
    return mine;
}

/* Returns true if the next number is being served. As a number cannot be given back, a
 * trylock draws it only then, and may have to wait after all. */
static inline bool published_partition_is_free(const struct atomic_u32 *next,
                                               struct published_partition *slots)
{
    uint32_t number = load_relaxed(next);
    return load_relaxed(published_partition_slot(slots, number)) == number;
}

static inline void published_partition_release(struct published_partition *slots,
                                               uint32_t mine)
{
    uint32_t next = mine + 1;
    store_release(published_partition_slot(slots, next), next);
}

/* The partitioned ticket lock itself. */
static inline struct published_partition *published_partitioned_of(struct lock *lock)
{
    return published_body(lock, node_count() * sizeof(struct published_partition));
}

static inline void published_partitioned_lock(struct lock *lock)
{
    uint32_t mine =
        published_partition_acquire(&lock->state[0], published_partitioned_of(lock));
    store_relaxed(&lock->state[1], mine);
}

static inline bool published_partitioned_trylock(struct lock *lock)
{
    if (!published_partition_is_free(&lock->state[0], published_partitioned_of(lock)))
        return false;
    published_partitioned_lock(lock);
    return true;
}

static inline void published_partitioned_unlock(struct lock *lock)
{
    published_partition_release(published_partitioned_of(lock),
                                load_relaxed(&lock->state[1]));
}

#endif
