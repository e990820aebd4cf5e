/* SPDX-License-Identifier: MIT */
#include "bench/workloads/histogram.h"

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (!from->count)
        return;
    into->count += from->count;
    into->sum += from->sum;
    if (from->most > into->most)
        into->most = from->most;
    for (unsigned i = 0; i < HISTOGRAM_STEPS; i++)
        into->steps[i] += from->steps[i];
}

static uint64_t least_value_of(unsigned step)
{
    if (step < 2u << HISTOGRAM_STEP_BITS)
        return step;
    unsigned shift = (step >> HISTOGRAM_STEP_BITS) - 1;
    return (uint64_t)(step - (shift << HISTOGRAM_STEP_BITS)) << shift;
}

uint64_t histogram_percentile(const struct histogram *histogram, unsigned percent)
{
    uint64_t wanted = (histogram->count * percent + 99) / 100, seen = 0;
    for (unsigned i = 0; wanted && i < HISTOGRAM_STEPS; i++) {
        seen += histogram->steps[i];
        if (seen >= wanted)
            return least_value_of(i);
    }
    return 0;
}
