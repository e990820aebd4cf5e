/* SPDX-License-Identifier: MIT */
/* Shared by acquisitions and trylocks that are not only counted. */
#ifndef HASP_PROFILER_RECORD_RECORD_ACQUIRE_H
#define HASP_PROFILER_RECORD_RECORD_ACQUIRE_H

#include "profiler/record/record.h"

/* Fills in the thread and the lock. */
void acquire_prepare(struct record_acquisition *a, struct recording *me,
                     const void *object, const struct record_as *as, void *caller);

/* Counts an acquisition, in sampled mode together with those that were skipped. */
void acquire_count(struct recording *me, const struct record_hold *hold);

/* Adds the hold to the thread's holds. */
void acquire_push(struct recording *me, const struct record_hold *hold);

#endif
