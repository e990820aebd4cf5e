/* SPDX-License-Identifier: MIT */
/*
 * The mutex of the C library on Linux. U. Drepper, "Futexes are tricky", 2011; with the
 * holder's id next to the word.
 *
 *   word  0 free, 1 held, 2 held with possible sleepers
 *   state[0]  the number of threads that use it, next to the owner
 */
#ifndef HASP_BENCH_PUBLISHED_MUTEX_H
#define HASP_BENCH_PUBLISHED_MUTEX_H

#include "bench/published/body.h"

static inline void published_mutex_taken(struct lock *lock)
{
    store_relaxed(&lock->owner, current_thread());
    store_relaxed(&lock->state[0], load_relaxed(&lock->state[0]) + 1);
}

static inline bool published_mutex_trylock(struct lock *lock)
{
    if (!acquire_if(&lock->word, 0, 1))
        return false;
    published_mutex_taken(lock);
    return true;
}

static inline void published_mutex_lock(struct lock *lock)
{
    if (published_mutex_trylock(lock))
        return;
    while (exchange_acquire(&lock->word, 2))
        park(&lock->word, 2, NULL);
    published_mutex_taken(lock);
}

static inline void published_mutex_unlock(struct lock *lock)
{
    store_relaxed(&lock->owner, 0);
    store_relaxed(&lock->state[0], load_relaxed(&lock->state[0]) - 1);
    if (exchange_release(&lock->word, 0) == 2)
        unpark(&lock->word, 1);
}

#endif
