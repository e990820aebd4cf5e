/* SPDX-License-Identifier: MIT */
/* Publishes each wait in the trace while it lasts, for the sampler and for reports on
 * hanging programs. */
#ifndef HASP_PROFILER_THREADS_PUBLISHED_WAIT_H
#define HASP_PROFILER_THREADS_PUBLISHED_WAIT_H

#include "profiler/threads/recordings.h"

/*
 * True when the mutexes are not the C library's. Those are free for any thread after a
 * release; other algorithms may hand a mutex over to a waiter, and it looks free until
 * the waiter runs.
 */
extern bool record_hands_over RECORD_HIDDEN;

/* Returns whether a thread may be waiting for the object. Objects that share a slot of
 * the table give false positives. */
bool record_is_waited_for(const void *object) RECORD_HIDDEN;

void wait_publish(struct recording *me, const struct record_hold *hold,
                  enum trace_operation operation);
void wait_withdraw(struct recording *me);

/* Does the same for a lock, which also counts as one more waiter. */
void wait_for_lock(struct recording *me, const struct record_hold *hold,
                   enum trace_operation operation);
void wait_for_lock_ends(struct recording *me);

/* Resets the module in a forked child, where no thread waits. */
void waits_forget(void);

#endif
