/* SPDX-License-Identifier: MIT */
/*
 * A thread's table of lock counts, in TRACE_LOCK_COUNTS chunks: a cache of the locks
 * that the thread uses.
 *
 * A slot has 64 bytes. The first slot of a table is never used because it may be the
 * chunk's header. A key is in its own slot or in one of three neighbours. When all four
 * are taken, one entry is evicted and its sums move to the lock's record. When that
 * happens often, the table grows, as long as there is space in the file.
 */
#ifndef HASP_PROFILER_THREADS_LOCK_COUNTS_H
#define HASP_PROFILER_THREADS_LOCK_COUNTS_H

#include "profiler/store/lock_registry.h"
#include "profiler/threads/recordings.h"

/* Creates the first table. Returns false when there is no memory for one. */
bool lock_counts_create(struct recording *me);

/* Returns the calling thread's entry of a lock, with its site statistics; never
 * NULL. */
struct trace_lock_count *lock_counts_find(struct recording *me, uintptr_t key,
                                          const struct record_as *as, void *caller);

/* Marks the entries of a key as stale, because another lock is now at that address.
 * Only the most recent threads are visited; the others notice at their next timed
 * acquisition of it. */
void lock_counts_renew(struct recording *me, uintptr_t key);

/* Returns the acquisitions of a key by a thread, or 0. Any thread may call this. */
uint64_t lock_counts_seen(const struct recording *thread, uintptr_t key);

/* Moves the sums of a table that is not in the file to the locks' records. */
void lock_counts_publish(struct recording *me);

/* Resets the module in a forked child. */
void lock_counts_forget(void);

/* Evicts all entries, when another thread takes over the record. */
void lock_counts_merge(struct recording *me);

static inline struct trace_site_stats *
site_stats_of(const struct trace_lock_count *count)
{
    return (struct trace_site_stats *)(uintptr_t)count->private;
}

/* Begins a hold that is only counted. */
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
