/* SPDX-License-Identifier: MIT */
/* Finds the operations for a pthread_rwlock_t, as dispatch.h does for a mutex. */
#ifndef HASP_PRELOAD_RWLOCK_DISPATCH_H
#define HASP_PRELOAD_RWLOCK_DISPATCH_H

#include "elision/rwlock_list.h"

#include <pthread.h>

/* List entry i is in slot i + 1. */
enum { RWLOCK_DEFAULT = 0, RWLOCK_GLIBC = 1 };

extern struct rwlock_operations rwlock_dispatch[RWLOCK_SLOTS]
    __attribute__((visibility("hidden")));

static inline struct rwlock *rwlock_of(pthread_rwlock_t *lock)
{
    return (struct rwlock *)lock;
}

static inline const struct rwlock_operations *
rwlock_operations_of(const struct rwlock *lock)
{
    return &rwlock_dispatch[load_relaxed(&lock->algorithm)];
}

/* Fills the slots that locks of this process can have: those of algorithm `chosen` (an
 * index below elided_rwlock_end()), which is the default, of glibc, and of the plan's
 * entries. Without `elides`, an elided lock is the lock alone. Comes after
 * plan_read(). */
void rwlock_dispatch_fill(unsigned chosen, bool elides);

/* From now on, a thread that ends gives back its record of read_holds.h. */
void rwlock_watch_threads(void);

/* Returns whether the lock is glibc's. The first call initialises the library. `caller`
 * is the return address of the hooked function, for the plan. */
bool rwlock_passed_through(struct rwlock *lock, const void *caller);

#endif
