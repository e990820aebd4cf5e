/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"
#include "platform/xorshift.h"

#include <sys/syscall.h>

enum {
    STEPS_MAX = 64, /* between two delays */
    SPINS_MAX = 256,
    SLEEP_NS_MAX = 50000,
    DELAYS = 16, /* of which, on average: */
    YIELDS = 3,
    SLEEPS = 1, /* the others spin */
};

__thread uint32_t perturb_left;
static __thread uint32_t seed __attribute__((tls_model("initial-exec")));

/* Returns a random number below `below`. */
static uint32_t any(uint32_t below)
{
    if (!seed)
        seed = ((uint32_t)ticks() ^ current_thread() * 2654435761u) | 1;
    seed = xorshift32(seed);
    return (seed >> 8) % below;
}

/* Calls no function of the C library, because those may take locks. */
void perturb_now(void)
{
    perturb_left = any(STEPS_MAX);
    uint32_t kind = any(DELAYS);
    if (kind < SLEEPS) {
        struct timespec nap = {0, (long)any(SLEEP_NS_MAX)};
        raw_syscall(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
    } else if (kind < SLEEPS + YIELDS) {
        yield();
    } else {
        for (uint32_t spins = any(SPINS_MAX); spins; spins--)
            (relax)();
    }
}
