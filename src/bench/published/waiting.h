/* SPDX-License-Identifier: MIT */
/*
 * How threads wait in the lock study's queue locks: they spin, or they spin for about
 * as long as a context switch takes and then sleep. In its library, LiTL, the release
 * of a lock whose waiters may sleep always calls the kernel, as it does not know
 * whether its successor sleeps.
 *
 *   waits  1 while the thread has to wait
 */
#ifndef HASP_BENCH_PUBLISHED_WAITING_H
#define HASP_BENCH_PUBLISHED_WAITING_H

#include "bench/published/body.h"

/* Spin iterations before a sleep: 9 us, a context switch on the study's machine. */
enum { PUBLISHED_SPINS = 2700 };

static inline void published_await(struct atomic_u32 *waits, int how)
{
    uint32_t left = PUBLISHED_SPINS;
    if (!(how & PUBLISHED_PARKS)) {
        spin_until(!load_acquire(waits));
        return;
    }
    while (load_acquire(waits)) {
        if (left)
            left -= relax_at_most(left);
        else
            park(waits, 1, NULL);
    }
}

static inline void published_wake(struct atomic_u32 *waits, int how)
{
    store_release(waits, 0);
    if (how & PUBLISHED_PARKS)
        unpark(waits, 1);
}

#endif
