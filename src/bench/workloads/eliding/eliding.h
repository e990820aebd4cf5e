/* SPDX-License-Identifier: MIT */
/*
 * Elided locks for workloads, on platforms that have transactions and no choice of
 * them; without/eliding.h is for the others. The include path picks one of the two.
 */
#ifndef HASP_BENCH_WORKLOADS_ELIDING_H
#define HASP_BENCH_WORKLOADS_ELIDING_H

#include "elision/list.h"
#include "platform/htm.h"

static inline int eliding_find(const char *name)
{
    return elided_find(name);
}

/* Returns whether the machine can run the lock. */
static inline bool eliding_can(int index)
{
    return !is_elided((unsigned)index) || htm_offered();
}

static inline const struct lock_operations *eliding_operations(int index)
{
    return elided_operations_at((unsigned)index);
}

static inline const char *eliding_name(int index)
{
    return elided_at((unsigned)index).name;
}

#endif
