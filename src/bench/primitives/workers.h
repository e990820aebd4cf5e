/* SPDX-License-Identifier: MIT */
/* Threads that repeat an operation until they are stopped, and the rate at which they
 * do so. */
#ifndef HASP_BENCH_PRIMITIVES_WORKERS_H
#define HASP_BENCH_PRIMITIVES_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

enum { WORKERS_MOST = 1024, WORKERS_LINE = 128 };

struct worker {
    long count __attribute__((aligned(WORKERS_LINE))); /* operations so far */
    uint64_t random;                                   /* state of worker_random */
};

/* What all threads together have done while all of them ran. */
struct rate {
    double per_second;
    double fairness; /* operations of the slowest thread over those of the fastest */
};

/* Returns the time in seconds of a clock that never goes back. */
double workers_now(void);

/* Returns whether the threads have been told to stop. */
bool workers_stopped(void);

/* Returns the next pseudo-random number of a thread. */
uint32_t worker_random(struct worker *worker);

/* Runs `body` in that many threads for that many seconds. It counts operations, and
 * returns once workers_stopped(). Exits if a thread cannot be started. */
struct rate workers_rate(unsigned threads, double seconds,
                         void (*body)(struct worker *));

/* Returns the ns that one call of `pair` takes, beside `threads` - 1 threads that
 * sleep. */
double workers_pair_ns(unsigned threads, double seconds, void (*pair)(void));

#endif
