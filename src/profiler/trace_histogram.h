/* SPDX-License-Identifier: MIT */
/* Durations in the trace. Include trace.h instead. */
#ifndef HASP_PROFILER_TRACE_HISTOGRAM_H
#define HASP_PROFILER_TRACE_HISTOGRAM_H

#include <stdint.h>

enum { TRACE_BUCKETS = 128 };

/*
 * A histogram of ticks. Bucket 0 counts durations below 32 ticks; bucket 1 + 4 * k + q
 * begins at 2^(5+k) * (4+q)/4; the last bucket has no upper bound.
 */
struct trace_histogram {
    uint32_t bucket[TRACE_BUCKETS];
};

static inline unsigned trace_bucket(uint64_t ticks)
{
    if (ticks < 32)
        return 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll(ticks); /* 5 or more */
    unsigned quarter = (unsigned)(ticks >> (octave - 2)) & 3;
    unsigned bucket = 1 + 4 * (octave - 5) + quarter;
    return bucket < TRACE_BUCKETS ? bucket : TRACE_BUCKETS - 1;
}

#endif
