/* SPDX-License-Identifier: MIT */
/*
 * A condition variable for workloads, the same as in a program under `hasp run`; for
 * programs that have its core. without/awaiting.h is for the others. The include path
 * picks one of the two.
 *
 * The caller holds the mutex, also of the functions that wake. Zeroed memory is a
 * condition variable.
 */
#ifndef HASP_BENCH_WORKLOADS_AWAITING_H
#define HASP_BENCH_WORKLOADS_AWAITING_H

#include "excluding.h"

struct awaited {
    char condition[48]; /* as large as a pthread_cond_t */
} __attribute__((aligned(CACHE_LINE)));

void awaiting_wait(const struct lock_operations *operations, const char *condition,
                   struct lock *lock);
bool awaiting_has_waiter(const char *condition);
void awaiting_wake(const struct lock_operations *operations, const char *condition,
                   bool all);

static inline void awaited_wait(struct run *run, struct awaited *awaited,
                                struct mutex *mutex)
{
    awaiting_wait(run->lock, awaited->condition, &mutex->lock);
}

static inline bool awaited_has_waiter(struct awaited *awaited)
{
    return awaiting_has_waiter(awaited->condition);
}

static inline void awaited_wake(struct run *run, struct awaited *awaited, bool all)
{
    awaiting_wake(run->lock, awaited->condition, all);
}

#endif
