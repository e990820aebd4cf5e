/* SPDX-License-Identifier: MIT */
/*
 * The threads that wait on condition variables: queues in the library, in buckets
 * chosen by the address of the condition variable.
 *
 * The condition variable itself only holds flags and a count. A waiter does not touch
 * it while it waits, so a thread that broadcasts may destroy and unmap it at once. The
 * count is changed under the bucket's lock: by a waiter before it releases the mutex,
 * by a thread that takes a waiter out, and by a waiter that times out or is cancelled
 * and is still queued (then nobody has broadcast, and the condition variable still
 * exists).
 *
 * Each bucket measures how a waiter should go on if it is awake when it is signalled
 * (locks/waiting/patience.h): by the rate of signals, including those that find no
 * waiter, because it shows how fast the threads advance.
 */
#ifndef HASP_CONDITION_QUEUE_H
#define HASP_CONDITION_QUEUE_H

#include "locks/waiting/patience.h"
#include "locks/waiting/waiter.h"

/* Added to the flag word for each waiter, as glibc does. Bits below: 1 process-shared,
 * 2 waits on the monotonic clock. */
enum { CONDITION_SHARED = 1, CONDITION_MONOTONIC = 2, CONDITION_WAITER = 8 };

/* Offset of glibc's flag word: 36, or 28 in newer versions. The user of this part
 * defines it. */
extern unsigned condition_flags_offset __attribute__((visibility("hidden")));

static inline struct atomic_u32 *condition_flags(const void *condition)
{
    return (struct atomic_u32 *)((char *)(uintptr_t)condition + condition_flags_offset);
}

/* Appends the waiter to the queue, and decides whether it is patient. */
void condition_enqueue(const void *condition, struct waiter *waiter);

/* Takes the waiter out; returns false if a signaller already has. */
bool condition_withdraw(const void *condition, struct waiter *waiter);

/* Takes out the oldest waiter, or all in order (linked by condition_next); NULL if
 * there is none. Touches the condition variable only if there is one. */
struct waiter *condition_take(const void *condition, bool all);

/* The caller's signal found no waiter. Such signals are counted by the thread, so that
 * they write nothing that threads share, and added to the bucket's when it waits, or
 * takes out a waiter. */
static inline void condition_count_signal(const void *condition)
{
    struct held_nodes *own = held_nodes();
    if (!MODEL_CHECKED &&
        load_relaxed(&own->signalled) == (uint32_t)(uintptr_t)condition)
        store_relaxed(&own->signals, load_relaxed(&own->signals) + 1);
}

/* Returns the record that decides how the next waiters wait. Only the model checker
 * needs it: it tries both ways. */
struct patience_record *condition_patience(const void *condition);

#endif
