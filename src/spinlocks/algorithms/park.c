/* SPDX-License-Identifier: MIT */
#include "spinlocks/algorithms/park.h"

struct atomic_u32 park_buckets[PARK_BUCKETS] __attribute__((aligned(CACHE_LINE)));

enum { UNSEEN_SLICE_NS = 1000000, SLICE_DOUBLINGS = 6 };

/* Spins; returns whether it took the lock. */
static bool park_spin(struct spinlock *lock)
{
    uint32_t left = spin_limit(), pause = BACKOFF_LEAST, taken = SPINLOCK_HELD;
    do {
        pause_before_attempt(&pause, &left);
        uint32_t seen = load_relaxed(&lock->word);
        if (seen == SPINLOCK_FREE && park_take(lock, taken))
            return true;
        if (spinlock_word_slept(seen))
            taken = SPINLOCK_SLEPT;
    } while (left);
    return false;
}

/* Marks the bucket before the thread sleeps; returns the longest sleep in ns, 0 for no
 * limit. */
static uint64_t park_mark(struct spinlock *lock)
{
    struct atomic_u32 *bucket = park_bucket(lock);
    uint32_t state = PARK_NEVER;
    if (compare_exchange_relaxed(bucket, &state, PARK_SEEN)) {
        state = PARK_SEEN;
        if (!heavy_barrier())
            store_relaxed(bucket, state = PARK_UNSEEN);
    }
    return state == PARK_UNSEEN ? UNSEEN_SLICE_NS : SLEEP_SLICE_NS;
}

void park_wait(struct spinlock *lock)
{
    if (park_spin(lock))
        return;
    uint64_t slice = park_mark(lock);
    const uint64_t longest = slice << SLICE_DOUBLINGS;
    while (exchange_acquire(&lock->word, SPINLOCK_SLEPT) != SPINLOCK_FREE) {
        if (!slice) {
            park(&lock->word, SPINLOCK_SLEPT, NULL);
            continue;
        }
        struct deadline end = deadline_after(slice);
        park(&lock->word, SPINLOCK_SLEPT, &end);
        if (slice < longest)
            slice *= 2;
    }
}
