/* SPDX-License-Identifier: MIT */
/*
 * What threads do with locks, and what is measured of it. Written once against
 * platform.h and workers.h: hasp-workloads runs it on this machine, hasp-simulate on a
 * simulated one.
 *
 * All workers begin together, each after a random delay (in lockstep, queues would
 * forever keep the order of the workers' numbers). What happens before the warm-up is
 * over and after the end is done, but not counted. Times are in cycles of ticks().
 *
 * Shared memory of a workload is cells, so that the simulator sees every access. What
 * is plain is book-keeping: free there, and natively either a worker's own or in a line
 * that the worker has just fetched for writing.
 */
#ifndef HASP_BENCH_WORKLOADS_WORKLOADS_H
#define HASP_BENCH_WORKLOADS_WORKLOADS_H

#include "bench/workloads/histogram.h"
#include "locks/list/descriptor.h"
#include "platform/platform.h"
#include "platform/workers.h"

enum knob {
#define KNOB(NAME, ...) KNOB_##NAME,
#include "bench/workloads/knobs.def"
#undef KNOB
    KNOB_COUNT
};

struct knob_description {
    const char *name, *summary;
    uint64_t least, most;
    const char *const *words;
};
extern const struct knob_description knob_list[KNOB_COUNT];

struct worker {
    unsigned index;
    bool aside;                 /* helps, and counts no operations */
    uint64_t random;            /* state of random_next */
    uint64_t operations;        /* done within the window */
    uint64_t operations_ever;   /* done at all, for checks */
    uint64_t balance;           /* what the check of the workload compares */
    uint64_t longest_run;       /* acquisitions of a lock in a row */
    uint64_t longest_gap;       /* between two operations' ends, in the window */
    uint64_t last_end;          /* of an operation within the window, or 0 */
    uint64_t left;              /* when it was done with everything */
    struct histogram acquire;   /* from wanting to having */
    struct histogram handover;  /* from another's release to a waiter's having */
    struct histogram operation; /* from wanting until it is done and visible */
} __attribute__((aligned(CACHE_LINE)));

struct run;

struct setting {
    enum knob knob;
    uint64_t value;
};

enum { SETTINGS_MAX = 16 };

struct workload {
    const char *name, *summary;
    /* Applications of the lock study (Guerraoui et al., "Lock - Unlock: Is That All?",
     * ACM TOCS 2019) that use their locks so; NULL for micro-benchmarks. */
    const char *shape_of;
    const char *shorthand; /* name:N sets this knob, or NULL */
    unsigned threads_least, threads_most;
    bool takes_lock;
    bool unpinned; /* workers go where the scheduler likes, unless CPUs are given */
    unsigned setting_count;
    struct setting settings[SETTINGS_MAX]; /* the knobs it has, and their defaults */

    /* Allocates what is shared; false after explain(). */
    bool (*prepare)(struct run *run);
    /* What a worker does before the clock starts, or NULL. */
    void (*enter)(struct run *run, struct worker *worker);
    void (*work)(struct run *run, struct worker *worker);
    /* Whether what must hold at the end does; false after explain(). */
    bool (*check)(struct run *run);
};

/* THE list of workloads. */
extern const struct workload workload_list[];
extern const unsigned workload_count;

struct run {
    const struct workload *workload;
    const struct lock_operations *lock;
    unsigned threads;
    const int *cpus; /* NULL: wherever the scheduler likes */
    uint64_t seed;
    uint64_t warm_up, duration; /* cycles */
    uint64_t knobs[KNOB_COUNT];

    struct worker *workers;
    void *shared; /* the workload's */
    struct meeting meeting __attribute__((aligned(CACHE_LINE)));
    uint64_t window_start, window_end;
    struct platform_counts counts_start, counts_end;
    bool counting, counted;  /* counts_start and counts_end are taken */
    uint64_t started, ended; /* when the workers met, and when the last one left */
    char explanation[200];   /* what went wrong */
    bool refused;            /* that is: what was asked for is not to be had */
};

/* Runs prepare, the workers, and check; false after explain(). */
bool run_measure(struct run *run);

void explain(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Zeroed memory of node `home`, or NULL after explain(). */
void *run_memory(struct run *run, size_t bytes);

static inline uint64_t cycles_of_ns(uint64_t ns)
{
    uint64_t each_second = cycles_per_second();
    return ns / 1000000000 * each_second + ns % 1000000000 * each_second / 1000000000;
}

/* The sum of two knobs, in cycles. */
uint64_t run_cycles(const struct run *run, enum knob cycles, enum knob ns);

/* The platform's counts belong to the window, too. */
void run_take_counts(struct run *run, uint64_t now);

/* Whether the run goes on at `now`, which is about now. */
static inline bool run_goes_on(struct run *run, uint64_t now)
{
    if (unlikely(run->counting ? !run->counted && now >= run->window_end
                               : now >= run->window_start))
        run_take_counts(run, now);
    return now < run->window_end;
}

static inline bool run_counts(const struct run *run, uint64_t now)
{
    return now >= run->window_start && now < run->window_end;
}

/* One operation that began at `start` is done. */
static inline void run_count(struct run *run, struct worker *worker, uint64_t start,
                             uint64_t end)
{
    worker->operations_ever++;
    if (run_counts(run, end)) {
        uint64_t since = worker->last_end ? worker->last_end : run->window_start;
        if (end - since > worker->longest_gap)
            worker->longest_gap = end - since;
        worker->last_end = end;
        worker->operations++;
        histogram_add(&worker->operation, end - start);
    }
}

/* A timestamp, once all stores of the caller are visible. */
static inline uint64_t cycles_drained(void)
{
    full_fence();
    return cycles_ordered();
}

/* S. Vigna's SplitMix64 (after Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

/* From 0 to `below` - 1; `below` is small against 2^32. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    return (random_next(state) >> 32) * below >> 32;
}

/* `cycles`, `percent` more or less. */
static inline void pause_about(struct worker *worker, uint64_t cycles, uint64_t percent)
{
    if (percent) {
        uint64_t span = cycles * percent / 100;
        cycles += random_below(&worker->random, 2 * span + 1) - span;
    }
    if (cycles)
        pause_cycles(cycles);
}

#endif
