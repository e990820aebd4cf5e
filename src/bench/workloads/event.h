/* SPDX-License-Identifier: MIT */
/*
 * An event counter. A waiter passes the count that it has seen, spins for as long as
 * parking takes, and then sleeps until the count changes. Zeroed memory is an event.
 */
#ifndef HASP_BENCH_WORKLOADS_EVENT_H
#define HASP_BENCH_WORKLOADS_EVENT_H

#include "platform/platform.h"

struct event {
    struct atomic_u32 count __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 sleepers;
};

static inline uint32_t event_seen(struct event *event)
{
    return load_acquire(&event->count);
}

static inline void event_wait(struct event *event, uint32_t seen)
{
    for (uint32_t left = spin_limit(); left; left -= relax_at_most(left))
        if (load_acquire(&event->count) != seen)
            return;
    /* Pairs with the fence in event_post: one of the two sees the other's write. */
    fetch_add_acq_rel(&event->sleepers, 1);
    while (load_acquire(&event->count) == seen)
        park(&event->count, seen, NULL);
    fetch_add_acq_rel(&event->sleepers, (uint32_t)-1);
}

static inline void event_post(struct event *event)
{
    fetch_add_acq_rel(&event->count, 1);
    fence_seq_cst();
    if (load_relaxed(&event->sleepers))
        unpark(&event->count, INT32_MAX);
}

#endif
