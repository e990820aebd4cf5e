/* SPDX-License-Identifier: MIT */
/*
 * Records in the order of time that stay within a bound: when there is no more room,
 * every second look is dropped, those that stay stand for twice as many, and from then
 * on only every second is kept.
 */
#ifndef HASP_PROFILER_STORE_TIMELINE_H
#define HASP_PROFILER_STORE_TIMELINE_H

#include "profiler/store/series.h"

/* Its records begin with `uint64_t ticks`; those of one look have the same. */
struct timeline {
    struct series *series;
    void (*double_weight)(void *record);
    uint32_t stride; /* looks of which one is kept */
    uint32_t iteration;
};

/* Whether this look is kept. */
bool timeline_keeps_next(struct timeline *);

void timeline_add(struct timeline *, const void *record);

#endif
