/* SPDX-License-Identifier: MIT */
/* Delegates for workloads, in programs without executors: there are none. */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "delegation/delegate.h"

enum { CAN_DELEGATE = false };

static inline void delegating_init(struct delegate *delegate, uint64_t executor)
{
    (void)delegate, (void)executor;
}

static inline void delegating_run(struct delegate *delegate, uint64_t executor,
                                  void *(*section)(void *), void *context)
{
    (void)delegate, (void)executor, (void)section, (void)context;
}

#endif
