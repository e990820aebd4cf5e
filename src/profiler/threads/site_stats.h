/* SPDX-License-Identifier: MIT */
/* A thread's statistics of the locks of one site, by operation. */
#ifndef HASP_PROFILER_THREADS_SITE_STATS_H
#define HASP_PROFILER_THREADS_SITE_STATS_H

#include "profiler/threads/recordings.h"

/* Returns the statistics, created if necessary; never NULL. Without space in the file
 * they are in the thread's own memory or, as a last resort, in one shared record. */
struct trace_site_stats *site_stats_find(struct recording *me, uint32_t site,
                                         enum trace_operation operation,
                                         enum trace_lock_kind lock_kind);

/* Adds to the statistics of elided sections. */
void site_stats_add_elision(struct trace_site_stats *to,
                            const struct trace_elision *more);

/* Adds all statistics to those of thread 0. The records become spare ones. */
void site_stats_merge(struct recording *me);

void site_stats_forget(void);

#endif
