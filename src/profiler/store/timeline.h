/* SPDX-License-Identifier: MIT */
/*
 * A timeline of bounded size. When it is full, every second sample is dropped, the
 * weight of the others is doubled, and from then on new samples are kept at half the
 * rate.
 */
#ifndef HASP_PROFILER_STORE_TIMELINE_H
#define HASP_PROFILER_STORE_TIMELINE_H

#include "profiler/store/series.h"

/* Its records begin with `uint64_t ticks`, which is equal for all of one sample. */
struct timeline {
    struct series *series;
    void (*double_weight)(void *record);
    uint32_t stride; /* one sample of so many is kept */
    uint32_t iteration;
};

/* Returns whether the next sample is to be kept. */
bool timeline_keeps_next(struct timeline *);

void timeline_add(struct timeline *, const void *record);

#endif
