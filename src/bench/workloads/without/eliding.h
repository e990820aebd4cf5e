/* SPDX-License-Identifier: MIT */
/* The locks of workloads, in programs without elided ones; see eliding/eliding.h. */
#ifndef HASP_BENCH_WORKLOADS_ELIDING_H
#define HASP_BENCH_WORKLOADS_ELIDING_H

#include "bench/workloads/transactions.h"
#include "locks/list/descriptor.h"

static inline int eliding_find(const char *name)
{
    return lock_find(name);
}

static inline bool eliding_can(int index)
{
    (void)index;
    return true;
}

static inline const struct lock_operations *eliding_operations(int index)
{
    return lock_operations_at((unsigned)index);
}

static inline const char *eliding_name(int index)
{
    return lock_at((unsigned)index).name;
}

static inline bool eliding_is_calibrated(int index)
{
    return lock_may_park(lock_at((unsigned)index));
}

static inline void eliding_set(bool trylock_nests, unsigned nesting)
{
    (void)trylock_nests, (void)nesting;
}

static inline bool eliding_now(void)
{
    return false;
}

static inline void eliding_forbid(void)
{
}

static inline void eliding_seen(struct transactions *seen)
{
    *seen = (struct transactions){.begun = 0};
}

static inline void eliding_since(const struct transactions *before,
                                 struct transactions *sum)
{
    (void)before, (void)sum;
}

#endif
