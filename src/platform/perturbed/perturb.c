/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <sys/syscall.h>

enum {
    STEPS_MAX = 64, /* between two pauses */
    TURNS_MAX = 256,
    SLEEP_NS_MAX = 50000,
    OF = 16, /* pauses: so many are */
    YIELDS = 3,
    SLEEPS = 1, /* the rest are short */
};

__thread uint32_t perturb_left;
static __thread uint32_t seed __attribute__((tls_model("initial-exec")));

/* G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software, 2003. */
static uint32_t any(uint32_t below)
{
    if (!seed)
        seed = ((uint32_t)ticks() ^ current_thread() * 2654435761u) | 1;
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return (seed >> 8) % below;
}

/* Without the C library's functions, which may take locks. */
void perturb_now(void)
{
    perturb_left = any(STEPS_MAX);
    uint32_t kind = any(OF);
    if (kind < SLEEPS) {
        struct timespec nap = {0, (long)any(SLEEP_NS_MAX)};
        raw_syscall(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
    } else if (kind < SLEEPS + YIELDS) {
        yield();
    } else {
        for (uint32_t turns = any(TURNS_MAX); turns; turns--)
            (relax)();
    }
}
