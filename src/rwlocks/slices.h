/* SPDX-License-Identifier: MIT */
/* Waiting for a reader-writer lock in a thread whose cancellation type is asynchronous;
 * locks/waiting/slices.h explains it. */
#ifndef HASP_RWLOCKS_SLICES_H
#define HASP_RWLOCKS_SLICES_H

#include "locks/waiting/slices.h"
#include "rwlocks/rwlock.h"

#include <errno.h>

/* Acquires the lock by its timed operation, and returns that operation's result. */
static __attribute__((noinline, unused)) int
rwlock_in_slices(struct rwlock *lock,
                 int (*timedlock)(struct rwlock *, const struct deadline *),
                 const struct deadline *last)
{
    long ns = SLICE_MIN_NS;
    do {
        struct deadline end = slice_end(last, ns);
        int result = timedlock(lock, &end);
        if (result != ETIMEDOUT)
            return result;
        if (ns < SLICE_MAX_NS)
            ns *= 2;
    } while (!last || !deadline_passed(last));
    return ETIMEDOUT;
}

#endif
