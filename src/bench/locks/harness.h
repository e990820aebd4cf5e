/* SPDX-License-Identifier: MIT */
/*
 * Worker threads that run for a given time, and a main thread that reads their counts.
 *
 * The main thread sleeps, sets `stop` at the end, reads every worker's count, and gives
 * the workers a grace period to end. If some do not end, the result records a hang and
 * the process exits without joining them.
 */
#ifndef HASP_BENCH_LOCKS_HARNESS_H
#define HASP_BENCH_LOCKS_HARNESS_H

#include <pthread.h>

#include "bench/locks/bench.h"
#include "platform/platform.h"

struct crew;

struct worker {
    struct atomic_u64 count __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 id;    /* thread id of the kernel */
    struct atomic_u32 ready; /* `prepare` has returned */
    struct atomic_u32 ended;
    struct atomic_u64 thought; /* result of the work outside the section */
    uint64_t final_count;      /* at the stop */
    double cpu_at_stop;   /* CPU time in seconds */
    struct crew *crew;
    unsigned index;
    pthread_t thread;
};

struct crew {
    /* Set by the case. `work` runs until crew_stopped(), or until its work is done. It
     * tries the lock once before it checks for the stop: a worker may get no CPU until
     * then, and a lock that was never tried must not pass. The optional `prepare` runs
     * in each worker before that. The optional `before_go` runs in the main thread once
     * all workers are prepared; then the clock starts. */
    void (*prepare)(struct worker *worker);
    void (*before_go)(struct crew *crew);
    void (*work)(struct worker *worker);
    bool pinned;       /* each worker on a CPU of its own, if there are enough */
    bool work_bound;   /* ends when all work is done, at the latest after `seconds` */
    bool watch_stalls; /* find the longest time without progress of a worker */

    /* Private to the harness. */
    struct worker *workers;
    unsigned thread_count;
    uint64_t started_ns;
    uint64_t stopped_ns;
    struct atomic_u32 go __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 stop __attribute__((aligned(CACHE_LINE)));
};

/* Runs `threads` workers, and sets seconds, operations, fairness and starvation of
 * `result` from their counts. Returns true if all have ended; otherwise the outcome is
 * "hang" or "collapse", and workers may still be running. */
bool crew_run(struct crew *crew, unsigned threads, const struct options *options,
              struct result *result);

/* Called after all threads have ended. Fails the result unless `guarded` is the number
 * of updates: `increments` for each operation that a worker counted. */
void crew_check_exclusion(const struct crew *crew, unsigned increments,
                          uint64_t guarded, struct result *result);

static inline bool crew_stopped(const struct crew *crew)
{
    return load_relaxed(&crew->stop) != 0;
}

/* Counts an operation. The worker is the only writer, so the addition is not atomic. */
static inline void count_one(struct worker *worker)
{
    store_relaxed(&worker->count, load_relaxed(&worker->count) + 1);
}

#endif
