/* SPDX-License-Identifier: MIT */
/*
 * The barrier of the C library on Linux (since glibc 2.25), for threads of one process:
 * the reference for barriers on simulated machines. Written from the description at the
 * head of its source.
 *
 * Idea: threads count themselves in. The thread whose number is a multiple of the count
 * announces that all up to its own have arrived, and wakes the sleepers; all others
 * sleep at once, without spinning. Leaving threads count themselves out, so that
 * destroying the barrier can wait for them.
 */
#ifndef HASP_BENCH_PUBLISHED_GLIBC_BARRIER_H
#define HASP_BENCH_PUBLISHED_GLIBC_BARRIER_H

#include "platform/platform.h"

struct glibc_barrier {
    struct atomic_u32 in, round;
    uint32_t count, shared;
    struct atomic_u32 out;
};

static inline bool glibc_barrier_wait(struct glibc_barrier *barrier)
{
    const uint32_t count = barrier->count;
    uint32_t number = fetch_add_acq_rel(&barrier->in, 1) + 1, round;
    do {
        round = load_relaxed(&barrier->round);
        if (number - round >= count && number - round <= UINT32_MAX / 2) {
            uint32_t all = number - (number - round) % count;
            if (!compare_exchange_release(&barrier->round, &round, all))
                continue;
            unpark(&barrier->round, INT32_MAX);
            round = all;
        }
        while (number - round - 1 < UINT32_MAX / 2) {
            park(&barrier->round, round, NULL);
            round = load_relaxed(&barrier->round);
        }
        break;
    } while (true);
    (void)load_acquire(&barrier->round);
    fetch_add_release(&barrier->out, 1);
    return number % count == 0;
}

#endif
