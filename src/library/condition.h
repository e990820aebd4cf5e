/* SPDX-License-Identifier: MIT */
/* Condition variables for the library's mutexes; src/condition/ has the core. */
#ifndef HASP_LIBRARY_CONDITION_H
#define HASP_LIBRARY_CONDITION_H

#include "locks/lock.h"

struct wait_queue {
    struct atomic_u32 flags; /* the clock, and the number of waiters */
};

/* The caller holds the lock, whose algorithm is that of the slot. `clock` is -1 for the
 * condition variable's own; `at` is NULL to wait without a deadline. Returns 0,
 * ETIMEDOUT or EINVAL. */
int wait_queue_wait(struct wait_queue *queue, struct lock *lock, uint32_t slot,
                    clockid_t clock, const struct timespec *at);

/* Wakes the thread that has waited longest, or all. Returns 0. */
int wait_queue_wake(struct wait_queue *queue, bool all);

/* Returns 0, or EINVAL for a clock other than CLOCK_REALTIME and CLOCK_MONOTONIC. */
int wait_queue_set_clock(struct wait_queue *queue, clockid_t clock);

#endif
