/* SPDX-License-Identifier: MIT */
/*
 * A thread's table of counts: TRACE_LOCK_COUNTS chunks, used as a cache of the locks that
 * the thread works with.
 *
 * Its slots have 64 bytes; the first is the chunk's header, where no key is ever put.
 * A key may be in its place or in one of three beside it. When they are taken, one is
 * given up, and its sums go to the lock's record. When that happens often, the table
 * grows, as long as the file has room.
 */
#ifndef HASP_PROFILER_THREADS_LOCK_COUNTS_H
#define HASP_PROFILER_THREADS_LOCK_COUNTS_H

#include "profiler/store/lock_registry.h"
#include "profiler/threads/recordings.h"

/* False: no place for a table at all. */
bool lock_counts_create(struct recording *me);

/* The entry of a lock for the calling thread, which has a use; never NULL. */
struct trace_lock_count *lock_counts_find(struct recording *me, uintptr_t key,
                                          const struct record_as *as, void *caller);

/* The lock of that address is another one from now on: threads that counted the one
 * before will look again. (Those of many threads that began first, when they time it.)
 */
void lock_counts_renew(struct recording *me, uintptr_t key);

/* What a thread has counted of a key, or 0; by another thread. */
uint64_t lock_counts_seen(const struct recording *thread, uintptr_t key);

/* Moves the sums of a table that is not in the file to the locks' records. */
void lock_counts_publish(struct recording *me);

/* In a forked child. */
void lock_counts_forget(void);

/* Gives all of them up, when the thread's record is needed for another. */
void lock_counts_merge(struct recording *me);

static inline struct trace_site_stats *
site_stats_of(const struct trace_lock_count *count)
{
    return (struct trace_site_stats *)(uintptr_t)count->private;
}

/* A hold that is only counted begins. */
static inline void lock_counts_hold(struct recording *me, uintptr_t key, uint32_t lock)
{
    uint32_t depth = me->depth++;
    struct record_hold *hold = &me->hold[depth];
    light_barrier(); /* as in record_count_lock */
    hold->key = key;
    hold->timed = false;
    hold->lock = lock;
    if (depth < TRACE_HELD)
        me->shared->held[depth] = lock;
    me->shared->depth = depth + 1;
}

#endif
