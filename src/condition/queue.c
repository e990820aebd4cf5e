/* SPDX-License-Identifier: MIT */
#include "condition/queue.h"

#include "locks/algorithms/futex.h"

#include <string.h>

enum { BUCKETS = 256 };
enum { CONDITION_USED = 32 }; /* signals in an epoch that make patience worthwhile */
#define BUCKET_EMPTYING UINT32_MAX

struct bucket {
    struct lock lock; /* the futex algorithm, unbiased */
    struct waiter *first, *last;
    struct atomic_u32
        generation; /* fork generation, or BUCKET_EMPTYING while it changes */
    struct patience_record patience;
    uint32_t signals, since; /* in this epoch, and its start in ns */
} __attribute__((aligned(64)));

static struct bucket condition_buckets[BUCKETS];

/* First use in this process: no thread waits, and a thread of the parent process may
 * have held the lock. */
static __attribute__((noinline)) void bucket_empty(struct bucket *bucket, uint32_t seen,
                                                   uint32_t now)
{
    if (seen != BUCKET_EMPTYING &&
        compare_exchange_acquire(&bucket->generation, &seen, BUCKET_EMPTYING)) {
        memset(&bucket->lock, 0, sizeof bucket->lock);
        bucket->first = bucket->last = NULL;
        store_release(&bucket->generation, now); /* pairs with the loads of it */
    }
    spin_until(load_acquire(&bucket->generation) == now);
}

static struct bucket *condition_bucket(const void *condition)
{
    uintptr_t address = (uintptr_t)condition;
    return &condition_buckets[(address >> 4 ^ address >> 12) % BUCKETS];
}

static struct bucket *bucket_lock(const void *condition)
{
    struct bucket *bucket = condition_bucket(condition);
    uint32_t now = fork_generation(), seen = load_acquire(&bucket->generation);
    if (unlikely(seen != now))
        bucket_empty(bucket, seen, now);
    futex_lock(&bucket->lock, false);
    return bucket;
}

static void bucket_unlock(struct bucket *bucket)
{
    futex_unlock(&bucket->lock, false);
}

static void append(struct waiter **first, struct waiter **last, struct waiter *waiter)
{
    waiter->condition_next = NULL;
    waiter->condition_previous = *last;
    if (*last)
        (*last)->condition_next = waiter;
    else
        *first = waiter;
    *last = waiter;
}

static void take_out(struct bucket *bucket, struct waiter *waiter)
{
    if (waiter->condition_previous)
        waiter->condition_previous->condition_next = waiter->condition_next;
    else
        bucket->first = waiter->condition_next;
    if (waiter->condition_next)
        waiter->condition_next->condition_previous = waiter->condition_previous;
    else
        bucket->last = waiter->condition_previous;
    struct atomic_u32 *flags = condition_flags(waiter->condition);
    store_relaxed(flags, load_relaxed(flags) - CONDITION_WAITER);
    waiter->condition = NULL;
}

struct patience_record *condition_patience(const void *condition)
{
    return &condition_bucket(condition)->patience;
}

/* Adds the signals that the caller has counted itself. */
static void count_own_signals(struct bucket *bucket, const void *condition)
{
    struct held_nodes *own = held_nodes();
    uint32_t self = (uint32_t)(uintptr_t)condition;
    if (load_relaxed(&own->signalled) == self)
        bucket->signals += load_relaxed(&own->signals);
    store_relaxed(&own->signalled, self);
    store_relaxed(&own->signals, 0);
}

/* Counts a signal that has found a waiter, and now and then compares the rates. The
 * signaller does both: it has counted the signals that it sent while nobody waited. */
static void count_signal(struct bucket *bucket, const void *condition)
{
    if (MODEL_CHECKED)
        return;
    count_own_signals(bucket, condition);
    bucket->signals++;
    if (++bucket->patience.waits != 0 && !bucket->patience.trial)
        return;
    uint32_t now = (uint32_t)now_ns();
    if (patience_look(&bucket->patience, now - bucket->since, bucket->signals,
                      CONDITION_USED)) {
        bucket->signals = 0;
        bucket->since = now;
    }
}

void condition_enqueue(const void *condition, struct waiter *waiter)
{
    struct bucket *bucket = bucket_lock(condition);
    struct atomic_u32 *flags = condition_flags(condition);
    if (!MODEL_CHECKED)
        count_own_signals(bucket, condition);
    waiter->condition_patient = bucket->patience.patient;
    waiter->condition = condition;
    append(&bucket->first, &bucket->last, waiter);
    store_relaxed(flags, load_relaxed(flags) + CONDITION_WAITER);
    bucket_unlock(bucket);
}

bool condition_withdraw(const void *condition, struct waiter *waiter)
{
    struct bucket *bucket = bucket_lock(condition);
    bool queued = waiter->condition != NULL;
    if (queued)
        take_out(bucket, waiter);
    bucket_unlock(bucket);
    return queued;
}

struct waiter *condition_take(const void *condition, bool all)
{
    struct waiter *first = NULL, *last = NULL;
    struct bucket *bucket = bucket_lock(condition);
    for (struct waiter *waiter = bucket->first, *next; waiter; waiter = next) {
        next = waiter->condition_next;
        if (waiter->condition != condition)
            continue;
        take_out(bucket, waiter);
        append(&first, &last, waiter);
        if (!all)
            break;
    }
    if (first)
        count_signal(bucket, condition);
    bucket_unlock(bucket);
    return first;
}
