/* SPDX-License-Identifier: MIT */
/* Mutual exclusion and sums between the threads that use the recorder's tables. */
#ifndef HASP_PROFILER_STORE_SHARING_H
#define HASP_PROFILER_STORE_SHARING_H

#include "platform/platform.h"
#include "profiler/hidden.h"

/*
 * A mutex for a few instructions or one write to the disk. Zeroed memory is a free one.
 *
 * brief_lock() returns false, without the lock, when a single hold has lasted for
 * brief_lock_longest_ns: the disk may be slow, or the holder may never return
 * because it was cancelled or a signal handler jumped out of it. The caller then skips
 * its operation and counts the data as lost. Later calls fail at once until the holder
 * unlocks, if it ever does.
 */
bool brief_lock(struct atomic_u32 *) __attribute__((warn_unused_result));
void brief_unlock(struct atomic_u32 *);

extern uint64_t brief_lock_longest_ns RECORD_HIDDEN; /* tests shorten it */

/* Set when a seccomp filter may kill the process for any system call but those that map
 * memory (seccomp_mode.h). */
extern struct atomic_u32 system_calls_forbidden RECORD_HIDDEN;

/* Adds to a sum that several threads add to. */
static inline void add_shared(uint64_t *sum, uint64_t more)
{
    fetch_add_relaxed((struct atomic_u64 *)(void *)sum, more);
}

#endif
