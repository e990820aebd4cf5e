/* SPDX-License-Identifier: MIT */
/* Futexes of recorded objects. */
#ifndef HASP_PROFILER_SAMPLE_FUTEX_OWNER_H
#define HASP_PROFILER_SAMPLE_FUTEX_OWNER_H

#include "profiler/sample/procfs.h"

/* Returns the number of the recorded lock, condition variable or barrier that contains
 * the futex for which a thread is blocked, or 0. */
uint32_t futex_owner(const struct procfs_call *call);

#endif
