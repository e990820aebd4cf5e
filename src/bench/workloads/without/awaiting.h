/* SPDX-License-Identifier: MIT */
/* A condition variable for workloads, in programs without that of `hasp run`; see
 * eliding/awaiting.h. */
#ifndef HASP_BENCH_WORKLOADS_AWAITING_H
#define HASP_BENCH_WORKLOADS_AWAITING_H

#include "excluding.h"

struct awaited {
    struct condition condition __attribute__((aligned(CACHE_LINE)));
};

static inline void awaited_wait(struct run *run, struct awaited *awaited,
                                struct mutex *mutex)
{
    uint32_t seen = condition_seen(&awaited->condition);
    (void)condition_wait(run, &awaited->condition, mutex, &seen);
}

static inline bool awaited_has_waiter(struct awaited *awaited)
{
    (void)awaited;
    return true; /* its signal looks for itself */
}

static inline void awaited_wake(struct run *run, struct awaited *awaited, bool all)
{
    (void)run;
    if (all)
        condition_broadcast(&awaited->condition);
    else
        condition_signal(&awaited->condition);
}

#endif
