/* SPDX-License-Identifier: MIT */
/*
 * Threads that work for a given time, and a main thread that counts from outside.
 *
 * The main thread sleeps, sets `stop` when the time is over, takes every worker's count
 * at that moment, and then gives the workers a grace period to end. Workers that do not
 * end are left behind: the result says so, and the process exits around them.
 */
#ifndef HASP_BENCH_LOCKS_HARNESS_H
#define HASP_BENCH_LOCKS_HARNESS_H

#include <pthread.h>

#include "bench/locks/bench.h"
#include "platform/platform.h"

struct crew;

struct worker {
    struct atomic_u64 count __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 id;    /* the kernel's */
    struct atomic_u32 ready; /* prepared */
    struct atomic_u32 ended;
    uint64_t final_count; /* as of the moment of the stop */
    double cpu_at_stop;   /* seconds of CPU time */
    struct crew *crew;
    unsigned index;
    pthread_t thread;
};

struct crew {
    /* Set by the case. `work` runs until crew_stopped(), or until its work is done. The
     * optional `prepare` runs in each worker before that, the optional `before_go` in
     * the main thread when all workers are prepared; then the clock starts. */
    void (*prepare)(struct worker *worker);
    void (*before_go)(struct crew *crew);
    void (*work)(struct worker *worker);
    bool pinned;       /* one CPU for each worker, as far as there are CPUs */
    bool work_bound;   /* over when all work is done, at the latest after `seconds` */
    bool watch_stalls; /* find the longest time that a worker made no progress */

    /* The harness's own. */
    struct worker *workers;
    unsigned thread_count;
    uint64_t started_ns;
    uint64_t stopped_ns;
    struct atomic_u32 go __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 stop __attribute__((aligned(CACHE_LINE)));
};

/* Runs `threads` workers, fills in seconds, operations, fairness and starvation of
 * `result` from their counts. Returns true if all have ended; else the result says
 * "hang" and the workers may still be running. */
bool crew_run(struct crew *crew, unsigned threads, const struct options *options,
              struct result *result);

static inline bool crew_stopped(const struct crew *crew)
{
    return load_relaxed(&crew->stop) != 0;
}

/* One operation done by this worker. Its only writer, so no atomic addition. */
static inline void count_one(struct worker *worker)
{
    store_relaxed(&worker->count, load_relaxed(&worker->count) + 1);
}

#endif
