/* SPDX-License-Identifier: MIT */
/*
 * Who waits on which condition variable: queues in the library, in buckets picked by
 * address.
 *
 * The condvar itself holds flags and a count only, and is not touched by a waiter once
 * it waits: whoever broadcasts may destroy and unmap it at once. The count is changed
 * under the bucket's lock, by the waiter before it releases the mutex, by whoever takes
 * a waiter out, and by a timed-out or cancelled waiter that finds itself still queued
 * (nobody has broadcast then, so the condvar is still there).
 */
#ifndef HASP_PRELOAD_CONDITION_QUEUE_H
#define HASP_PRELOAD_CONDITION_QUEUE_H

#include "locks/waiting/waiter.h"

/* Added to a condvar's flag word per waiter, as glibc does; below it: 1 process-shared,
 * 2 waits on the monotonic clock. */
enum { CONDITION_SHARED = 1, CONDITION_MONOTONIC = 2, CONDITION_WAITER = 8 };

/* Where glibc keeps the flag word; set by startup() (36 up to a point, 28 in newer
 * ones). */
extern unsigned condition_flags_offset __attribute__((visibility("hidden")));

static inline struct atomic_u32 *condition_flags(const void *condition)
{
    return (struct atomic_u32 *)((char *)(uintptr_t)condition + condition_flags_offset);
}

void condition_enqueue(const void *condition, struct waiter *waiter);

/* Takes the waiter out; false if a signaller already has. */
bool condition_withdraw(const void *condition, struct waiter *waiter);

/* Takes out the eldest waiter, or all (linked by condition_next), in order; NULL: none.
 * Touches the condvar only if somebody is found. */
struct waiter *condition_take(const void *condition, bool all);
#endif
