/* SPDX-License-Identifier: MIT */
/*
 * The first waiter of auto.h: how it competes for the word.
 *
 * If cohorts use the lock, it demands it at once: each look would take the line from
 * the holder. If the lock is shared, it tries eagerly, then sleeps on the word. If the
 * lock is exclusive, it looks at the word from time to time, and takes it only if the
 * threads that use the lock seem to have paused; between its looks it naps. When its
 * patience of one slice is over, it demands the lock.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_STANDBY_H
#define HASP_LOCKS_ALGORITHMS_AUTO_STANDBY_H

#include "locks/algorithms/auto_queue.h"
#include "locks/algorithms/auto_word.h"

enum {
    AUTO_NAP_NS = HANDOVER_LIMIT * 500,  /* the first one; each is twice as long */
    AUTO_LOOKS = HANDOVER_LIMIT / 4 + 1, /* of an exclusive lock's waiter, in a spin */
};

/* What the first waiter of an exclusive lock has seen since it began to spin. */
struct auto_watch {
    uint32_t first, last; /* count of uses at the first and the last look */
    uint32_t looks, idle; /* looks so far, and the latest ones without a use */
};

/* Looks at the count of uses. Returns true if the lock has been left alone for at least
 * twice as long as it took, on average, from one use to the next. */
static inline bool auto_is_left(struct lock *lock, struct auto_watch *watch)
{
    uint32_t uses = auto_uses(lock);
    watch->idle = uses == watch->last ? watch->idle + 1 : 0;
    watch->last = uses;
    watch->looks++;
    return watch->idle * (uses - watch->first + 3) >= 2 * watch->looks + 4;
}

/* The first waiter tries to take the word, eagerly if the lock is shared. `held` is
 * what it writes. `*used`: whether other threads have used the lock meanwhile. */
static inline bool auto_spin(struct lock *lock, uint32_t held, bool *used)
{
    uint32_t first = auto_uses(lock);
    struct auto_watch watch = {first, first, 0, 0};
    bool acquired = false;
    uint32_t most = spin_limit() * (auto_policy(lock) == AUTO_SPINNING ? AUTO_LONG : 1);
    for (uint32_t spins = most; spins && !acquired;) {
        bool exclusive = auto_is_exclusive(lock);
        uint32_t pause = exclusive ? spin_limit() / AUTO_LOOKS : 0;
        pause = pause < spins ? pause : spins - 1;
        pause_for(pause);
        spins -= pause;
        spins -= relax_at_most(spins);
        bool left = auto_is_left(lock, &watch);
        acquired = load_relaxed(&lock->word) == 0 && (left || !exclusive) &&
                   acquire_if(&lock->word, 0, held);
    }
    *used = watch.last != first;
    return acquired;
}

/* Naps while other threads use the lock. Returns false if the deadline has passed. */
static inline bool auto_nap(struct waiter *self, uint64_t ns,
                            const struct deadline *deadline)
{
    struct deadline end = deadline_after(ns);
    park(&self->cell, load_relaxed(&self->cell), &end); /* no thread wakes it */
    return !deadline || !deadline_passed(deadline);
}

/* The first waiter acquires the lock. `held` is AUTO_SLEEPERS if it has slept on the
 * word before. Returns false if the deadline has passed. */
static inline bool auto_compete(struct lock *lock, struct waiter *self, uint32_t held,
                                const struct deadline *deadline)
{
    bool used;
    if (auto_policy(lock) == AUTO_COHORTS && load_relaxed(&lock->word))
        return auto_demand(lock, self, deadline ? 0 : auto_long_spin(lock), deadline);
    if (auto_spin(lock, held, &used))
        return true;
    struct deadline slice_end = deadline_after(auto_slice_ns(lock));
    uint64_t nap = AUTO_NAP_NS;
    bool in_time = true;
    while (in_time && !deadline_passed(&slice_end)) {
        bool acquired = false;
        if (auto_is_exclusive(lock) && used) {
            acquired = held == AUTO_SLEEPERS && auto_claim(lock);
            in_time = acquired || auto_nap(self, nap, deadline);
            nap *= 2;
        } else {
            in_time = auto_sleep(lock, &acquired, deadline);
            held = AUTO_SLEEPERS;
        }
        if (acquired || (in_time && auto_spin(lock, held, &used)))
            return true;
    }
    if (in_time)
        return auto_demand(lock, self, deadline ? 0 : auto_long_spin(lock), deadline);
    return held == AUTO_SLEEPERS && auto_claim(lock);
}

#endif
