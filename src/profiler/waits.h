/* SPDX-License-Identifier: MIT */
/* Waits: published while they last, for the sampler and whoever looks at a hang. */
#ifndef HASP_PROFILER_WAITS_H
#define HASP_PROFILER_WAITS_H

#include "profiler/file.h"

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
