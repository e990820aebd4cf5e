/* SPDX-License-Identifier: MIT */
/*
 * A condition variable for workloads whose locks have their published form: that of the
 * GNU C Library before version 2.25, to which the lock study's library leaves condition
 * variables. See bench/workloads/eliding/awaiting.h.
 *
 *   guard    a mutex that is held for the operations on the others, on the same line
 *   futex    changes with each wait and wake-up
 *   total, wakeups, woken   waits that began, that were signalled, and that returned
 *
 * A waiter that was woken takes the program's mutex as any other thread does. In the
 * study's library, it first takes a mutex of glibc's and releases it.
 */
#ifndef HASP_BENCH_WORKLOADS_AWAITING_H
#define HASP_BENCH_WORKLOADS_AWAITING_H

#include "bench/published/mutex.h"
#include "excluding.h"

struct awaited {
    struct lock guard PUBLISHED_ALONE;
    struct atomic_u32 futex, total, wakeups, woken;
};

static inline void awaited_wait(struct run *run, struct awaited *awaited,
                                struct mutex *mutex)
{
    published_mutex_lock(&awaited->guard);
    const uint32_t seen = load_relaxed(&awaited->wakeups);
    store_relaxed(&awaited->total, load_relaxed(&awaited->total) + 1);
    store_relaxed(&awaited->futex, load_relaxed(&awaited->futex) + 1);
    mutex_unlock(run, mutex);
    do {
        const uint32_t value = load_relaxed(&awaited->futex);
        published_mutex_unlock(&awaited->guard);
        park(&awaited->futex, value, NULL);
        published_mutex_lock(&awaited->guard);
    } while (load_relaxed(&awaited->wakeups) == seen ||
             load_relaxed(&awaited->woken) == load_relaxed(&awaited->wakeups));
    store_relaxed(&awaited->woken, load_relaxed(&awaited->woken) + 1);
    published_mutex_unlock(&awaited->guard);
    mutex_lock(run, mutex);
}

static inline bool awaited_has_waiter(struct awaited *awaited)
{
    (void)awaited;
    return true; /* its signal looks for itself */
}

static inline void awaited_wake(struct run *run, struct awaited *awaited, bool all)
{
    (void)run;
    published_mutex_lock(&awaited->guard);
    const uint32_t total = load_relaxed(&awaited->total);
    const uint32_t wakeups = load_relaxed(&awaited->wakeups);
    if (total != wakeups) {
        store_relaxed(&awaited->wakeups, all ? total : wakeups + 1);
        store_relaxed(&awaited->futex, load_relaxed(&awaited->futex) + 1);
        unpark(&awaited->futex, all ? UINT32_MAX : 1);
    }
    published_mutex_unlock(&awaited->guard);
}

#endif
