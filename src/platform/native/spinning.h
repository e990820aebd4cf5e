/* SPDX-License-Identifier: MIT */
/* Determines how long to spin, calibrated on this machine. */
#ifndef HASP_PLATFORM_NATIVE_SPINNING_H
#define HASP_PLATFORM_NATIVE_SPINNING_H

#include <stdint.h>

enum { CLOCK_SPINS = 32, HANDOVER_LIMIT = 64, ARRAY_SLOTS = 16 };
enum { MODEL_CHECKED = 0, STATISTICS = 1 };

/* In relax() calls; 0 until first needed. */
extern uint32_t spin_limit_cached __attribute__((visibility("hidden")));

/* Sets the cost of a futex sleep and wake-up to the sleeper, in ns (0: estimate it from
 * the cost of a system call when first needed). `hasp run` measures it once per boot
 * with a pair of threads. */
void spinning_set_park_cost(uint32_t park_ns);

/* Times relax() and, unless the park cost is set, the futex call. Takes a few
 * microseconds. Returns the spin limit. */
uint32_t spinning_calibrate(void);

static inline uint32_t spin_limit(void)
{
    uint32_t limit = __atomic_load_n(&spin_limit_cached, __ATOMIC_RELAXED);
    return likely(limit != 0) ? limit : spinning_calibrate();
}

#define relax_at_most(spins) (relax(), 1u)

static inline void pause_for(uint32_t spins)
{
    while (spins--)
        relax();
}

#define prefetch_for_read(c) __builtin_prefetch((const void *)&(c)->raw, 0, 3)
#define prefetch_for_write(c) prefetch_for_write_at(&(c)->raw)

/* Far longer than any handover between running threads; waiting longer means that the
 * holder was preempted. */
static inline uint32_t yield_limit(void)
{
    return 8 * spin_limit();
}

#endif
