/* SPDX-License-Identifier: MIT */
/* Delegates for workloads, in programs without executors: there are none. */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "bench/workloads/delegating_unserved.h"

enum { CAN_DELEGATE = false };

static inline void delegating_init(struct delegate *delegate, uint64_t executor,
                                   uint64_t server, bool ahead)
{
    (void)delegate, (void)executor, (void)server, (void)ahead;
}

static inline void delegating_run(struct delegate *delegate, uint64_t executor,
                                  void *(*section)(void *), void *context)
{
    (void)delegate, (void)executor, (void)section, (void)context;
}

#endif
