/* SPDX-License-Identifier: MIT */
/*
 * A histogram of durations: exact below 64, then 64 steps for each power of two, so a
 * percentile is at most 1.6 % too low. Mean and maximum are exact.
 */
#ifndef HASP_BENCH_WORKLOADS_HISTOGRAM_H
#define HASP_BENCH_WORKLOADS_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_STEP_BITS = 6, HISTOGRAM_STEPS = (64 - 6 + 1) << 6 };

struct histogram {
    uint64_t count, sum, most;
    uint32_t steps[HISTOGRAM_STEPS];
};

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    unsigned shift = 0;
    if (value >> HISTOGRAM_STEP_BITS)
        shift = 63u - (unsigned)__builtin_clzll(value) - HISTOGRAM_STEP_BITS;
    /* With shift > 0, value >> shift has its highest bit set, which advances the step
     * by another power of two. */
    histogram->steps[(shift << HISTOGRAM_STEP_BITS) + (value >> shift)]++;
    histogram->count++;
    histogram->sum += value;
    if (value > histogram->most)
        histogram->most = value;
}

void histogram_merge(struct histogram *into, const struct histogram *from);

/* Returns the smallest value that at least `percent` % of the values do not exceed, or
 * 0 if the histogram is empty. */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned percent);

#endif
