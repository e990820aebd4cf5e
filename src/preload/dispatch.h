/* SPDX-License-Identifier: MIT */
/*
 * From a mutex to the operations of its lock.
 *
 * A mutex carries the index of its algorithm; 0, as in zeroed memory, is the default of
 * the process. The table holds copies of the operations, so that a lock costs one load
 * of the index and one indirect jump whichever place in the list its algorithm has.
 */
#ifndef HASP_PRELOAD_DISPATCH_H
#define HASP_PRELOAD_DISPATCH_H

#include "locks/list/descriptor.h"

#include <pthread.h>

/* List entry i is slot i + 1. */
enum { DISPATCH_DEFAULT = 0, DISPATCH_GLIBC = 1, DISPATCH_SLOTS = 128 };

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

/* Glibc's kinds that are Hasp's: the low two bits, and its two elision hints. All
 * others (robust, process-shared, priority protocols, destroyed) are glibc's business.
 */
enum {
    KIND_NORMAL = 0,
    KIND_RECURSIVE = 1,
    KIND_ERRORCHECK = 2,
    KIND_ADAPTIVE = 3,
    KIND_TYPE = 3,
    KIND_OURS = 0x303,
};

/* True when glibc's functions work on this mutex; it has its algorithm afterwards. */
bool passed_through(struct lock *lock);

/* Fills the table with `chosen` (an index below lock_count) as the default. */
void dispatch_fill(unsigned chosen, bool biased);

/* From now on nothing is released by a plain store. */
void dispatch_stop_bias(void);

/* Sets the library up if that has not happened yet; called by every cold first use. */
void startup(void);

#endif
