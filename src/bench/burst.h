/* SPDX-License-Identifier: MIT */
/* A burst: threads work at the same time, for a given time. */
#ifndef HASP_BENCH_BURST_H
#define HASP_BENCH_BURST_H

#include "platform/workers.h"

#include "locks/waiting/policies.h"

#include <sched.h>

enum { BURST_THREADS = 64 };

struct burst {
    uint64_t threads, milliseconds;
    void (*work)(unsigned index);
    bool stop;
    uint64_t elapsed_ns;
    struct meeting meeting;
};

/* The last worker measures the time, the others work. */
static inline void burst_body(unsigned index, void *argument)
{
    struct burst *burst = argument;
    arrive_together(&burst->meeting, (uint32_t)burst->threads + 1);
    if (index < burst->threads) {
        burst->work(index);
        return;
    }
    const uint64_t start = now_ns();
    struct atomic_u32 never = {0};
    struct deadline deadline = deadline_after(burst->milliseconds * 1000000);
    while (park(&never, 0, &deadline))
        ; /* a spurious wake-up */
    __atomic_store_n(&burst->stop, true, __ATOMIC_RELAXED);
    burst->elapsed_ns = now_ns() - start;
}

/* Prepares the subject while the calling thread, and so each server that it starts, is
 * on the CPUs that the burst's threads leave free, if there are any. Otherwise a server
 * can share a CPU with a thread that waits for it. */
static inline bool burst_prepare(const struct burst *burst, bool (*prepare)(void))
{
    cpu_set_t all, left;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return prepare(); /* too many CPUs for a set */
    left = all;
    for (uint64_t i = 0; i < burst->threads; i++)
        CPU_CLR(i, &left);
    if (CPU_COUNT(&left))
        sched_setaffinity(0, sizeof left, &left);
    bool prepared = prepare();
    sched_setaffinity(0, sizeof all, &all);
    return prepared;
}

/* Runs the burst. `work` returns soon after `stop` is set. Each thread has a CPU of its
 * own if there are enough. Returns false if a thread cannot run (workers_error()). */
static inline bool burst_run(struct burst *burst, void (*work)(unsigned index))
{
    burst->work = work;
    int cpus[BURST_THREADS + 1];
    for (uint64_t i = 0; i <= burst->threads; i++)
        cpus[i] = i < burst->threads && burst->threads <= cpu_count() ? (int)i : -1;
    return run_workers((unsigned)burst->threads + 1, cpus, burst_body, burst);
}

#endif
