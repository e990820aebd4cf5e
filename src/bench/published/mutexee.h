/* SPDX-License-Identifier: MIT */
/*
 * MUTEXEE. B. Falsafi, R. Guerraoui, J. Picorel, V. Trigonakis, "Unlocking energy",
 * USENIX ATC 2016: waiters spin for about 8,000 cycles, and a release watches the lock
 * for a moment, and wakes no sleeper if another thread takes it. If too many releases
 * have to wake one, waiters spin for a shorter time for a while. A spinning waiter
 * exchanges the word, and fences between, as in the authors' code.
 *
 *   word  HELD; CONTENDED: threads may sleep
 *   state[0]  on the word's line: releases with waiters
 *   state[1]  those of this period that woke a sleeper
 *   state[2]  periods of short spins so far, 0 while spins are long
 */
#ifndef HASP_BENCH_PUBLISHED_MUTEXEE_H
#define HASP_BENCH_PUBLISHED_MUTEXEE_H

#include "bench/published/body.h"

enum { MUTEXEE_HELD = 1, MUTEXEE_CONTENDED = 256 };

/* In cycles. */
enum { MUTEXEE_SPIN = 8192, MUTEXEE_SPIN_SHORT = 256, MUTEXEE_WATCH = 384 };

/* In releases; in periods; in wake-ups of a period. */
enum { MUTEXEE_PERIOD = 2048 };
enum { MUTEXEE_SHORT_PERIODS = 8, MUTEXEE_SHORT_PERIODS_MOST = 32 };
enum { MUTEXEE_WAKES = 128, MUTEXEE_WAKES_MOST = 256 };

/* Periods of short spins in a row, and wake-ups in a period of long ones. */
struct published_mutexee_limits {
    uint32_t periods, wakes;
};

static inline bool published_mutexee_trylock(struct lock *lock)
{
    return !(fetch_or_acquire(&lock->word, MUTEXEE_HELD) & MUTEXEE_HELD);
}

static inline void published_mutexee_lock(struct lock *lock)
{
    if (published_mutexee_trylock(lock))
        return;
    const bool short_spin = load_relaxed(&lock->state[2]) != 0;
    const uint64_t limit = short_spin ? MUTEXEE_SPIN_SHORT : MUTEXEE_SPIN;
    const uint64_t start = ticks();
    do {
        if (published_mutexee_trylock(lock))
            return;
        fence_seq_cst();
    } while (ticks() - start <= limit);
    while (exchange_acquire(&lock->word, MUTEXEE_HELD | MUTEXEE_CONTENDED) &
           MUTEXEE_HELD)
        park(&lock->word, MUTEXEE_HELD | MUTEXEE_CONTENDED, NULL);
}

/* Called by the holder if there are waiters. */
static inline void published_mutexee_adapt(struct lock *lock)
{
    struct published_mutexee_limits *limits =
        published_body(lock, sizeof(struct published_mutexee_limits));
    uint32_t releases = load_relaxed(&lock->state[0]) + 1;
    store_relaxed(&lock->state[0], releases);
    if (releases % MUTEXEE_PERIOD)
        return;
    if (!limits->wakes)
        *limits =
            (struct published_mutexee_limits){MUTEXEE_SHORT_PERIODS, MUTEXEE_WAKES};
    uint32_t short_periods = load_relaxed(&lock->state[2]);
    if (!short_periods) {
        short_periods = load_relaxed(&lock->state[1]) > limits->wakes;
    } else if (short_periods++ == limits->periods) {
        short_periods = 0;
        if (limits->periods < MUTEXEE_SHORT_PERIODS_MOST)
            limits->periods *= 2;
        if (limits->wakes < MUTEXEE_WAKES_MOST)
            limits->wakes++;
    }
    store_relaxed(&lock->state[2], short_periods);
    store_relaxed(&lock->state[1], 0);
}

static inline void published_mutexee_unlock(struct lock *lock)
{
    if (load_relaxed(&lock->word) == MUTEXEE_HELD &&
        release_if(&lock->word, MUTEXEE_HELD, 0))
        return;
    published_mutexee_adapt(lock);
    fetch_and_release(&lock->word, ~(uint32_t)MUTEXEE_HELD);
    if (load_relaxed(&lock->word) & MUTEXEE_HELD)
        return;
    pause_cycles(MUTEXEE_WATCH);
    if (load_relaxed(&lock->word) & MUTEXEE_HELD)
        return;
    fetch_and_release(&lock->word, ~(uint32_t)MUTEXEE_CONTENDED);
    store_relaxed(&lock->state[1], load_relaxed(&lock->state[1]) + 1);
    unpark(&lock->word, 1);
}

#endif
