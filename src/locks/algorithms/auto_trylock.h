/* SPDX-License-Identifier: MIT */
/*
 * The trylock of auto.h, which may be called in a loop by many threads. It reads the
 * word before it writes, but asks for the line in a writable state: a thread that finds
 * the lock free then has all it needs, and a holder whose line is elsewhere fetches it
 * once, as if it had been read, or faster.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_TRYLOCK_H
#define HASP_LOCKS_ALGORITHMS_AUTO_TRYLOCK_H

#include "locks/algorithms/auto_waiting.h"
#include "locks/waiting/waited_for.h"

/* For a trylock that fails again: it pauses so many times as long as it took, so many
 * ticks at most, as a thread that reads the line may lose its CPU; looks at the clock
 * after so many spins. */
enum { AUTO_AGAIN = 3, AUTO_AGAIN_MOST = 1 << 18, AUTO_AGAIN_SPINS = 8 };

static inline bool auto_try_at_once(struct lock *lock)
{
    prefetch_for_write(&lock->word);
    return auto_try(lock);
}

/* The caller's last trylock found this lock held, too. The longer it takes to read the
 * lock's line, the more threads do the same, and the holder has to wait for it behind
 * them. So a failure lasts AUTO_AGAIN times as long as the read in addition. */
static __attribute__((noinline, unused)) bool auto_try_again(struct lock *lock)
{
    uint64_t start = ticks();
    if (auto_try_at_once(lock)) {
        forget_try();
        return true;
    }
    uint64_t now = ticks(), left = AUTO_AGAIN * (now - start);
    left = left < AUTO_AGAIN_MOST ? left : AUTO_AGAIN_MOST;
    while (ticks() - now < left)
        pause_for(AUTO_AGAIN_SPINS);
    return false;
}

static inline bool auto_trylock(struct lock *lock, bool biased)
{
    bool again = unlikely(tried_in_vain(lock));
    bool acquired = again ? auto_try_again(lock) : auto_try_at_once(lock);
    if (!waited_for(lock)) {
        if (acquired)
            auto_mark_tried(lock, biased);
        else
            note_try_of(lock);
    }
    return acquired;
}

#endif
