/* SPDX-License-Identifier: MIT */
/*
 * What most locks spell the same, from their own functions prefix_fast(lock),
 * prefix_wait(lock, deadline) and prefix_forget(lock, held).
 */
#ifndef HASP_LOCKS_ALGORITHMS_LOCK_DEFAULTS_H
#define HASP_LOCKS_ALGORITHMS_LOCK_DEFAULTS_H

#include "locks/memory/fork_repair.h"

/* Without waiting if that is possible, else by waiting; for good, or to a deadline. */
#define DEFAULT_LOCK(prefix)                                                           \
    static inline bool prefix##_timedlock(struct lock *lock,                           \
                                          const struct deadline *deadline)             \
    {                                                                                  \
        return prefix##_fast(lock) || prefix##_wait(lock, deadline);                   \
    }                                                                                  \
    static inline void prefix##_lock(struct lock *lock)                                \
    {                                                                                  \
        prefix##_timedlock(lock, NULL);                                                \
    }

/* Ghosts may be queued. Those who came meanwhile have taken the lock's line away; to
 * read it first would fetch it twice. */
#define DEFAULT_BEFORE_RELEASE(prefix)                                                 \
    static inline void prefix##_before_release(struct lock *lock)                      \
    {                                                                                  \
        prefetch_for_write(&lock->generation);                                         \
        fork_repair_by_holder(lock, prefix##_forget);                                  \
    }

/* A free lock keeps nothing outside the mutex. */
#define DEFAULT_DESTROY(prefix)                                                        \
    static inline void prefix##_destroy(struct lock *lock)                             \
    {                                                                                  \
        (void)lock;                                                                    \
    }

#endif
