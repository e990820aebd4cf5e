/* SPDX-License-Identifier: MIT */
/*
 * Locks as levels of cohort locks (cohort.h, cohort_queue.h). Where waiters may park,
 * the global lock is MUTEXEE instead of a backoff lock, so that leaders may park, too.
 */
#ifndef HASP_LOCKS_ALGORITHMS_COHORT_LEVELS_H
#define HASP_LOCKS_ALGORITHMS_COHORT_LEVELS_H

#include "locks/algorithms/mcs_queue.h"
#include "locks/algorithms/mutexee.h"
#include "locks/algorithms/spinlock.h"

/* The operations that a cohort lock needs from a lock, at either level. */
struct cohort_level {
    bool (*fast)(struct lock *);
    bool (*trylock)(struct lock *);
    bool (*timedlock)(struct lock *, const struct deadline *);
    void (*unlock)(struct lock *);
    void (*forget)(struct lock *, bool held);
    void (*destroy)(struct lock *);
    bool (*queued)(struct lock *); /* local level only: called by the holder, true if a
                                    * thread waits */
};

/* Makes a lock usable as a level; `wait` and `wait_until` are the arguments of its
 * functions. */
#define COHORT_LEVEL(level, prefix, forget_it, tells, wait, wait_until)                \
    static inline bool level##_trylock(struct lock *lock)                              \
    {                                                                                  \
        return prefix##_trylock wait;                                                  \
    }                                                                                  \
    static inline bool level##_timedlock(struct lock *lock,                            \
                                         const struct deadline *deadline)              \
    {                                                                                  \
        return prefix##_timedlock wait_until;                                          \
    }                                                                                  \
    static inline void level##_unlock(struct lock *lock)                               \
    {                                                                                  \
        prefix##_unlock wait;                                                          \
    }                                                                                  \
    static const struct cohort_level level = {                                         \
        .fast = prefix##_fast,                                                         \
        .trylock = level##_trylock,                                                    \
        .timedlock = level##_timedlock,                                                \
        .unlock = level##_unlock,                                                      \
        .forget = forget_it,                                                           \
        .destroy = prefix##_destroy,                                                   \
        .queued = tells,                                                               \
    };

/* Global locks. */

static inline void cohort_no_queue(struct lock *lock, bool held)
{
    (void)lock; /* there is no queue to repair */
    (void)held;
}

COHORT_LEVEL(cohort_backoff, spinlock, cohort_no_queue, NULL, (lock, true),
             (lock, true, deadline))
COHORT_LEVEL(cohort_mutexee, mutexee, mutexee_forget, NULL, (lock, MUTEXEE_SPINNERS),
             (lock, MUTEXEE_SPINNERS, deadline))
COHORT_LEVEL(cohort_mcs, mcs, mcs_forget, NULL, (lock, SPIN), (lock, SPIN, deadline))

#endif
