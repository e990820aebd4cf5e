/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

enum { MEASURE_NS = 50000, SCALE = 20 };

static struct atomic_u64 scaled; /* nanoseconds per 2^SCALE ticks; 0: not measured */

/* Measures the rate against the system clock, to about one percent. */
static uint64_t measure(void)
{
    uint64_t from = ticks(), start = now_ns(), ns;
    do
        ns = now_ns() - start;
    while (ns < MEASURE_NS);
    uint64_t elapsed = ticks() - from;
    uint64_t result = (ns << SCALE) / (elapsed ? elapsed : 1);
    store_relaxed(&scaled, result ? result : 1);
    return result;
}

uint64_t ticks_to_ns(uint64_t difference)
{
    uint64_t factor = load_relaxed(&scaled);
    if (unlikely(!factor))
        factor = measure();
    /* Converts the value in two halves, so that no product overflows for centuries. */
    uint64_t high = difference >> SCALE, low = difference & ((1u << SCALE) - 1);
    return high * factor + (low * factor >> SCALE);
}
