/* SPDX-License-Identifier: MIT */
/* Waits: published while they last, for the sampler and whoever looks at a hang. */
#ifndef HASP_PROFILER_THREADS_PUBLISHED_WAIT_H
#define HASP_PROFILER_THREADS_PUBLISHED_WAIT_H

#include "profiler/threads/recordings.h"

/*
 * The mutexes behind are not the C library's own, which are free for whoever comes
 * first: others may be handed over, and look free on their way to the next holder.
 */
extern bool record_hands_over RECORD_HIDDEN;

/* Whether somebody waits for it, or for another with the same place in a table. */
bool record_is_waited_for(const void *object) RECORD_HIDDEN;

void wait_publish(struct recording *me, const struct record_hold *hold,
                  enum trace_operation operation);
void wait_withdraw(struct recording *me);

/* The same for one more waiter of a lock. */
void wait_for_lock(struct recording *me, const struct record_hold *hold,
                   enum trace_operation operation);
void wait_for_lock_ends(struct recording *me);

/* In a forked child nobody waits. */
void waits_forget(void);

#endif
