/* SPDX-License-Identifier: MIT */
/* Delegates for workloads, in programs without executors: there are none. */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "bench/workloads/delegating_counts.h"
#include "delegation/delegate.h"

enum { CAN_DELEGATE = false, DELEGATING_SERVERS = 1 };

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

static inline bool delegating_needs_servers(uint64_t executor)
{
    (void)executor;
    return false;
}

static inline void delegating_serve(const struct delegate *object, uint32_t number)
{
    (void)object, (void)number;
}

static inline void delegating_dismiss(const struct delegate *object, uint32_t number)
{
    (void)object, (void)number;
}

static inline struct delegating_counts delegating_counts(const struct delegate *object)
{
    (void)object;
    return (struct delegating_counts){.sections = 0};
}

#endif
