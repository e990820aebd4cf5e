/* SPDX-License-Identifier: MIT */
/*
 * Test-and-set with exponential backoff while the lock is held. J. Mellor-Crummey, M.
 * Scott, TOCS 1991; the lengths of the pauses are those of Concurrency Kit, which the
 * lock study uses. A waiter that has met the lock held a few times is away for long.
 *
 *   word  0 free, 1 held
 */
#ifndef HASP_BENCH_PUBLISHED_BACKOFF_H
#define HASP_BENCH_PUBLISHED_BACKOFF_H

#include "bench/published/tas.h"

/* In spin iterations. */
enum { PUBLISHED_PAUSE_LEAST = 1 << 9, PUBLISHED_PAUSE_MOST = (1 << 20) - 1 };

static inline void published_backoff_lock(struct lock *lock)
{
    uint32_t pause = PUBLISHED_PAUSE_LEAST;
    do {
        while (load_relaxed(&lock->word)) {
            pause_for(pause);
            if (pause < PUBLISHED_PAUSE_MOST)
                pause *= 2;
        }
    } while (!published_tas_trylock(lock));
}

static inline bool published_backoff_trylock(struct lock *lock)
{
    return published_tas_trylock(lock);
}

static inline void published_backoff_unlock(struct lock *lock)
{
    published_tas_unlock(lock);
}

#endif
