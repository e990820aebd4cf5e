/* SPDX-License-Identifier: MIT */
/*
 * Delegates for workloads, in programs that contain the executors; without/delegating.h
 * is for those that do not. The include path picks one of the two.
 *
 * `executor` is an index in delegate_names; 0 stands for the mutex of the workload.
 */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "delegation/list/descriptor.h"

enum { CAN_DELEGATE = true };

static inline void delegating_init(struct delegate *delegate, uint64_t executor)
{
    delegate_init(delegate, (unsigned)executor, NULL);
}

static inline void delegating_run(struct delegate *delegate, uint64_t executor,
                                  void *(*section)(void *), void *context)
{
    executor_list[executor].operations.run(delegate, section, context);
}

#endif
