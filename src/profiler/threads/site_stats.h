/* SPDX-License-Identifier: MIT */
/* What a thread did with the locks of one site, by operation. */
#ifndef HASP_PROFILER_THREADS_SITE_STATS_H
#define HASP_PROFILER_THREADS_SITE_STATS_H

#include "profiler/threads/recordings.h"

/* Never NULL: when there is no place left in the file, the threads' own memory or,
 * last, one that all share has to do. */
struct trace_site_stats *site_stats_find(struct recording *me, uint32_t site,
                                         enum trace_operation operation,
                                         enum trace_lock_kind lock_kind);

/* Adds all to those of thread 0, and keeps the records for the next owner of `me`. */
void site_stats_merge(struct recording *me);

void site_stats_forget(void);

#endif
