/* SPDX-License-Identifier: MIT */
/*
 * Hapax lock, with invisible waiters. D. Dice, A. Kogan, "Hapax locks: value-based
 * mutual exclusion", PPoPP 2026: values from blocks of 65,536 for each thread, one
 * array of 4,096 slots for all locks.
 *
 *   arrive, depart  the last value that arrived and the last that departed, on one line
 *   holder  of the lock's body: the value of the holder
 *   slot    of the array: the last value released of those that map to it. All values
 *           of a block map to one slot
 */
#ifndef HASP_BENCH_PUBLISHED_HAPAX_H
#define HASP_BENCH_PUBLISHED_HAPAX_H

#include "bench/published/body.h"

enum { PUBLISHED_HAPAX_SLOTS = 4096, PUBLISHED_HAPAX_BLOCK = 1 << 16 };

static struct atomic_u64 published_hapax_array[PUBLISHED_HAPAX_SLOTS]
    __attribute__((aligned(4096)));
static struct atomic_u64 published_hapax_blocks __attribute__((aligned(4096)));

struct published_hapax {
    struct atomic_u64 arrive, depart;
};

static inline struct published_hapax *published_hapax_of(struct lock *lock)
{
    return (struct published_hapax *)(void *)lock->state;
}

static inline uint64_t *published_hapax_holder(struct lock *lock)
{
    return published_body(lock, sizeof(uint64_t));
}

/* The factor puts the slots of consecutive blocks on different lines. */
static inline struct atomic_u64 *published_hapax_slot(uint64_t value)
{
    return &published_hapax_array[value / PUBLISHED_HAPAX_BLOCK * 17 %
                                  PUBLISHED_HAPAX_SLOTS];
}

/* Returns a value that no thread has used. Value 0 is that of a new lock. */
static inline uint64_t published_hapax_draw(void)
{
    static uint64_t last[PUBLISHED_THREADS];
    uint64_t *own = &last[published_thread()];
    if (++*own % PUBLISHED_HAPAX_BLOCK == 1)
        *own = (fetch_add_relaxed(&published_hapax_blocks, 1) + 1) *
                   PUBLISHED_HAPAX_BLOCK +
               1;
    return *own;
}

static inline void published_hapax_lock(struct lock *lock)
{
    struct published_hapax *own = published_hapax_of(lock);
    uint64_t mine = published_hapax_draw();
    uint64_t before = exchange_acq_rel(&own->arrive, mine);
    struct atomic_u64 *slot = published_hapax_slot(before);
    while (load_acquire(&own->depart) != before) {
        uint64_t seen = load_acquire(slot);
        if (load_acquire(&own->depart) == before)
            break;
        (void)relax_at_most(1); /* the loop below does not watch the line of the lock */
        spin_until(load_acquire(slot) != seen);
    }
    *published_hapax_holder(lock) = mine;
}

static inline bool published_hapax_trylock(struct lock *lock)
{
    struct published_hapax *own = published_hapax_of(lock);
    uint64_t before = load_acquire(&own->depart), mine = published_hapax_draw();
    if (!compare_exchange_acquire(&own->arrive, &before, mine))
        return false;
    *published_hapax_holder(lock) = mine;
    return true;
}

static inline void published_hapax_unlock(struct lock *lock)
{
    uint64_t mine = *published_hapax_holder(lock);
    store_release(&published_hapax_of(lock)->depart, mine);
    store_release(published_hapax_slot(mine), mine);
}

#endif
