/* SPDX-License-Identifier: MIT */
/*
 * Finds the operations for a mutex.
 *
 * A mutex holds the index of its algorithm; 0, as in zeroed memory, selects the
 * process's default. The table holds copies of the operations, so that every algorithm
 * costs one load of the index and one indirect jump, wherever it is in the list.
 */
#ifndef HASP_PRELOAD_DISPATCH_H
#define HASP_PRELOAD_DISPATCH_H

#include "borrowing/list.h"

#include <pthread.h>

/* List entry i is in slot i + 1, and so are the elided locks and `delegate`. */
enum {
    DISPATCH_DEFAULT = 0,
    DISPATCH_GLIBC = 1,
    DISPATCH_SLOTS = LOCK_SLOTS + LOCK_SLOTS / 2,
};

_Static_assert((int)DISPATCH_SLOTS <= 1 << 8 * sizeof(struct atomic_u8),
               "lock->algorithm holds every slot");

extern struct lock_operations dispatch[DISPATCH_SLOTS]
    __attribute__((visibility("hidden")));

static inline struct lock *lock_of(pthread_mutex_t *mutex)
{
    return (struct lock *)mutex;
}

static inline pthread_mutex_t *mutex_of(struct lock *lock)
{
    return (pthread_mutex_t *)lock;
}

static inline const struct lock_operations *operations_of(const struct lock *lock)
{
    return &dispatch[load_relaxed(&lock->algorithm)];
}

/* The bits of glibc's mutex kind that Hasp handles: the type, and two elision hints.
 * Mutexes with any other bit (robust, process-shared, priority protocols, destroyed)
 * are passed through to glibc. */
enum {
    KIND_NORMAL = 0,
    KIND_RECURSIVE = 1,
    KIND_ERRORCHECK = 2,
    KIND_ADAPTIVE = 3,
    KIND_TYPE = 3,
    KIND_OURS = 0x303,
    KIND_TRIED_AT_ONCE = 0x302, /* normal, error-checking */
    KIND_ROBUST = 0x10,
};

/* The kind of the mutex is not ours, or its algorithm may not be resolved. */
bool passed_through_otherwise(struct lock *lock);

/* Returns true if the algorithm of this mutex is resolved and is one of Hasp's: only
 * their operations destroy anything. */
static inline bool surely_ours(struct lock *lock)
{
    return !(lock->kind & ~KIND_OURS) &&
           dispatch[load_acquire(&lock->algorithm)].destroy != NULL;
}

/* Returns whether this mutex is passed through to glibc. Resolves its algorithm
 * first. */
static inline bool passed_through(struct lock *lock)
{
    return likely(surely_ours(lock)) ? false : passed_through_otherwise(lock);
}

/* Fills the table, with algorithm `chosen` (an index below listed_end()) as the
 * default. Without `elides`, an elided lock is the lock alone. */
void dispatch_fill(unsigned chosen, bool biased, bool elides);

/* From now on, no lock is released by a plain store. */
void dispatch_stop_bias(void);

/* Initialises the library, once. Every hooked function may be the first to be called.
 * */
void startup(void);

#endif
