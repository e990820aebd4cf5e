/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

/* The estimate of the park cost, in futex calls, if it was not measured. A sleep and
 * wake-up enters the kernel on both sides, switches contexts twice and interrupts an
 * idle CPU. Measurements with hasp-calibrate range from 16 futex calls upwards; an
 * estimate that is too low only makes waiters park early. */
enum {
    FUTEX_CALLS_PER_PARK = 16,
    ROUNDS = 4,
    BATCH = 16,
    LIMIT_MIN = 20,
    LIMIT_MAX = 20000
};

uint32_t spin_limit_cached;
static uint32_t park_ns_given;

void spinning_set_park_cost(uint32_t park_ns)
{
    park_ns_given = park_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint32_t spinning_calibrate(void)
{
    struct atomic_u32 nobody = {0};
    uint64_t relax_ns = UINT64_MAX, futex_ns = UINT64_MAX; /* per batch, best round */
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = now_ns();
        for (int i = 0; i < BATCH; i++)
            relax();
        uint64_t middle = now_ns();
        if (!park_ns_given)
            for (int i = 0; i < BATCH; i++)
                unpark(&nobody, 1);
        relax_ns = least(relax_ns, middle - start);
        futex_ns = least(futex_ns, now_ns() - middle);
    }
    uint64_t park_ns =
        park_ns_given ? park_ns_given : futex_ns * FUTEX_CALLS_PER_PARK / BATCH;
    uint64_t limit = park_ns * BATCH / (relax_ns ? relax_ns : 1);
    if (limit < LIMIT_MIN)
        limit = LIMIT_MIN;
    if (limit > LIMIT_MAX)
        limit = LIMIT_MAX;
    __atomic_store_n(&spin_limit_cached, (uint32_t)limit, __ATOMIC_RELAXED);
    return (uint32_t)limit;
}
