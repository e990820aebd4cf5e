/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a lock in a thread whose cancellation type is asynchronous.
 *
 * glibc cancels such a thread while it waits, even if it never acquires the lock. Here
 * the thread may own a node of the lock's queue, so a cancellation is deferred while it
 * waits. To act on one anyway, it waits in slices: between two of them it has left the
 * queue as a timed-out waiter does, and the timed lock restores the cancellation type.
 */
#ifndef HASP_LOCKS_WAITING_SLICES_H
#define HASP_LOCKS_WAITING_SLICES_H

#include "locks/lock.h"

/* Each slice is twice as long as the one before, because a waiter loses its position in
 * the queue at the end of each. */
enum { SLICE_MIN_NS = 4000000, SLICE_MAX_NS = 256000000 };

/* Returns the deadline `ns` nanoseconds from now, or `last` (NULL: none) if that is
 * earlier. */
static inline struct deadline slice_end(const struct deadline *last, long ns)
{
    struct deadline end = {last ? last->clock : CLOCK_MONOTONIC, {0, 0}};
    clock_gettime(end.clock, &end.at);
    end.at.tv_nsec += ns;
    if (end.at.tv_nsec >= 1000000000) {
        end.at.tv_nsec -= 1000000000;
        end.at.tv_sec++;
    }
    bool past_last = last && (end.at.tv_sec > last->at.tv_sec ||
                              (end.at.tv_sec == last->at.tv_sec &&
                               end.at.tv_nsec > last->at.tv_nsec));
    return past_last ? *last : end;
}

/* Acquires the lock by its timed operation. Returns false if the deadline `last` (NULL:
 * none) passes first. */
static __attribute__((noinline, unused)) bool
lock_in_slices(struct lock *lock,
               bool (*timedlock)(struct lock *, const struct deadline *),
               const struct deadline *last)
{
    long ns = SLICE_MIN_NS;
    do {
        struct deadline end = slice_end(last, ns);
        if (timedlock(lock, &end))
            return true;
        if (ns < SLICE_MAX_NS)
            ns *= 2;
    } while (!last || !deadline_passed(last));
    return false;
}

#endif
