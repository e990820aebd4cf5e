/* SPDX-License-Identifier: MIT */
/* What acquisitions and trylocks that are more than counted have in common. */
#ifndef HASP_PROFILER_RECORD_RECORD_ACQUIRE_H
#define HASP_PROFILER_RECORD_RECORD_ACQUIRE_H

#include "profiler/record/record.h"

/* Fills in whose it is and of which lock; nothing is said of time yet. */
void acquire_prepare(struct record_acquisition *a, struct recording *me,
                     const void *object, const struct record_as *as, void *caller);

/* Counts it; in sampled mode it stands for those that were passed over. */
void acquire_count(struct recording *me, const struct record_hold *hold);

/* It is held now. */
void acquire_push(struct recording *me, const struct record_hold *hold);

#endif
