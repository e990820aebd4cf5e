/* SPDX-License-Identifier: MIT */
/*
 * Test-and-set, compare-and-set, and test-and-test-and-set with bounded exponential
 * backoff. T. Anderson, TPDS 1990; J. Mellor-Crummey, M. Scott, TOCS 1991. The bound of
 * the pauses, and their randomness, are those of libslock.
 *
 *   word  0 free, 1 held
 */
#ifndef HASP_BENCH_PUBLISHED_TAS_H
#define HASP_BENCH_PUBLISHED_TAS_H

#include "bench/published/body.h"

/* In cycles. The bound of a thread's pauses keeps growing while it uses the lock. */
enum { TTAS_PAUSE_MOST = 1000 };

struct published_ttas_state {
    uint64_t random, pause_most;
} PUBLISHED_ALONE;

static inline bool published_tas_trylock(struct lock *lock)
{
    return !test_and_set_acquire(&lock->word);
}

static inline void published_tas_lock(struct lock *lock)
{
    spin_until(published_tas_trylock(lock));
}

static inline void published_tas_unlock(struct lock *lock)
{
    store_release(&lock->word, 0);
}

static inline bool published_cas_trylock(struct lock *lock)
{
    return acquire_if(&lock->word, 0, 1);
}

static inline void published_cas_lock(struct lock *lock)
{
    spin_until(published_cas_trylock(lock));
}

static inline void published_cas_unlock(struct lock *lock)
{
    store_release(&lock->word, 0);
}

static inline bool published_plain_ttas_trylock(struct lock *lock)
{
    return load_relaxed(&lock->word) == 0 && published_tas_trylock(lock);
}

static inline void published_plain_ttas_lock(struct lock *lock)
{
    spin_until(published_plain_ttas_trylock(lock));
}

static inline void published_plain_ttas_unlock(struct lock *lock)
{
    store_release(&lock->word, 0);
}

static inline void published_ttas_back_off(struct published_ttas_state *self)
{
    self->pause_most = 2 * self->pause_most + 1;
    if (self->pause_most > TTAS_PAUSE_MOST)
        self->pause_most = TTAS_PAUSE_MOST;
    pause_cycles(published_random(&self->random) / 2 % self->pause_most);
}

static inline void published_ttas_pause(struct lock *lock)
{
    struct published_ttas_state *states =
        published_body(lock, published_threads() * sizeof(struct published_ttas_state));
    published_ttas_back_off(&states[published_thread()]);
}

static inline bool published_ttas_trylock(struct lock *lock, bool prefetch)
{
    (void)prefetch;
    return published_plain_ttas_trylock(lock);
}

static inline void published_ttas_lock(struct lock *lock, bool prefetch)
{
    while (true) {
        published_spin(&lock->word, prefetch, load_relaxed(&lock->word) == 0);
        if (published_tas_trylock(lock))
            return;
        published_ttas_pause(lock);
    }
}

static inline void published_ttas_unlock(struct lock *lock, bool prefetch)
{
    (void)prefetch;
    store_release(&lock->word, 0);
}

#endif
