/* SPDX-License-Identifier: MIT */
/*
 * The adaptive mutex of the C library on Linux, PTHREAD_MUTEX_ADAPTIVE_NP of the GNU C
 * Library: a waiter tries a compare-and-set up to twice as often as recent waiters had
 * to, and a little more, before it sleeps as with the plain mutex.
 *
 *   word      as in mutex.h
 *   state[1]  the average number of tries; on the same line
 */
#ifndef HASP_BENCH_PUBLISHED_ADAPTIVE_H
#define HASP_BENCH_PUBLISHED_ADAPTIVE_H

#include "bench/published/mutex.h"

enum { ADAPTIVE_TRIES_MOST = 100, ADAPTIVE_TRIES_MORE = 10, ADAPTIVE_PAST = 8 };

static inline bool published_adaptive_trylock(struct lock *lock)
{
    return published_mutex_trylock(lock);
}

static inline void published_adaptive_lock(struct lock *lock)
{
    if (published_mutex_trylock(lock))
        return;
    int32_t average = (int32_t)load_relaxed(&lock->state[1]), tries = 0;
    int32_t most = 2 * average + ADAPTIVE_TRIES_MORE;
    if (most > ADAPTIVE_TRIES_MOST)
        most = ADAPTIVE_TRIES_MOST;
    do {
        if (tries++ >= most) {
            published_mutex_lock(lock);
            break;
        }
        relax();
    } while (!published_mutex_trylock(lock));
    average = (int32_t)load_relaxed(&lock->state[1]);
    store_relaxed(&lock->state[1],
                  (uint32_t)(average + (tries - average) / ADAPTIVE_PAST));
}

static inline void published_adaptive_unlock(struct lock *lock)
{
    published_mutex_unlock(lock);
}

#endif
