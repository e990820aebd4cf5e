/* SPDX-License-Identifier: MIT */
/*
 * Common definitions, based on an algorithm's own functions prefix_fast(lock),
 * prefix_wait(lock, deadline) and prefix_forget(lock, held).
 */
#ifndef HASP_LOCKS_ALGORITHMS_LOCK_DEFAULTS_H
#define HASP_LOCKS_ALGORITHMS_LOCK_DEFAULTS_H

#include "locks/memory/fork_repair.h"

/* Acquires without waiting if possible, otherwise waits; with or without a deadline. */
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

/* Threads of the parent may be queued. Threads that arrived meanwhile have taken the
 * lock's line away; a plain load would fetch it a second time. */
#define DEFAULT_BEFORE_RELEASE(prefix)                                                 \
    DEFAULT_BEFORE_RELEASE_BY(prefix, prefix##_forget)
#define DEFAULT_BEFORE_RELEASE_BY(prefix, forget)                                      \
    static inline void prefix##_before_release(struct lock *lock)                      \
    {                                                                                  \
        prefetch_for_write(&lock->generation);                                         \
        fork_repair_by_holder(lock, forget);                                           \
    }

/* Differs from a destroy() that does something by its type, so that the lock's table of
 * operations can tell (lock_operations.h). */
struct nothing_to_destroy {
    char unused;
};

/* For locks without side memory, which have nothing to free. */
#define DEFAULT_DESTROY(prefix)                                                        \
    static inline struct nothing_to_destroy prefix##_destroy(struct lock *lock)        \
    {                                                                                  \
        (void)lock;                                                                    \
        return (struct nothing_to_destroy){0};                                         \
    }

/* The same for light locks that have nothing but a directory to free, in state[3]: the
 * caller looks there before it calls destroy_directory(). */
struct directory_to_destroy {
    char unused;
};

#endif
