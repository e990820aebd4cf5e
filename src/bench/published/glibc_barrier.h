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

/* Announces the last full phase up to this number, unless another thread has. Returns
 * the number up to which all have arrived. */
static inline uint32_t glibc_barrier_announce(struct glibc_barrier *barrier,
                                              uint32_t number)
{
    for (;;) {
        uint32_t round = load_relaxed(&barrier->round);
        uint32_t ahead = number - round, all = number - ahead % barrier->count;
        if (ahead < barrier->count || ahead > UINT32_MAX / 2)
            return round;
        if (compare_exchange_release(&barrier->round, &round, all)) {
            unpark(&barrier->round, INT32_MAX);
            return all;
        }
    }
}

static inline bool glibc_barrier_wait(struct glibc_barrier *barrier)
{
    uint32_t number = fetch_add_acq_rel(&barrier->in, 1) + 1;
    uint32_t round = glibc_barrier_announce(barrier, number);
    while (number - round - 1 < UINT32_MAX / 2) {
        park(&barrier->round, round, NULL);
        round = load_relaxed(&barrier->round);
    }
    (void)load_acquire(&barrier->round);
    fetch_add_release(&barrier->out, 1);
    return number % barrier->count == 0;
}

#endif
