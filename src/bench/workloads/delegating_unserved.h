/* SPDX-License-Identifier: MIT */
/* The parts of a delegating.h for programs whose executors, if any, have no servers and
 * count nothing. */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_UNSERVED_H
#define HASP_BENCH_WORKLOADS_DELEGATING_UNSERVED_H

#include "bench/workloads/delegating_counts.h"
#include "delegation/delegate.h"

enum { DELEGATING_SERVERS = 1 };

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
