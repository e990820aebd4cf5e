/* SPDX-License-Identifier: MIT */
/*
 * Workloads and their measurement, written against platform.h and workers.h:
 * hasp-workloads runs them on the host, hasp-simulate on a simulated machine.
 *
 * All workers start at the same time, each after a random delay; in lockstep, queues
 * would keep the order of the workers' numbers forever. Operations during the warm-up
 * and after the end of the window are not counted. Times are in cycles of ticks().
 *
 * The shared data of a workload are cells, so the simulator sees every access. Plain
 * variables are bookkeeping: they cost nothing in the simulator, and natively they are
 * private to a worker or in a line that it has just fetched for writing.
 */
#ifndef HASP_BENCH_WORKLOADS_WORKLOADS_H
#define HASP_BENCH_WORKLOADS_WORKLOADS_H

#include "bench/workloads/histogram.h"
#include "locks/list/descriptor.h"
#include "platform/platform.h"
#include "platform/workers.h"
#include "rwlocks/list/descriptor.h"

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

struct statistics {
    struct histogram acquire;   /* from the call until the lock is held */
    struct histogram handover;  /* from a release until a waiter holds the lock */
    struct histogram operation; /* from its beginning until its effects are visible */
} __attribute__((aligned(CACHE_LINE)));

struct worker {
    unsigned index;
    bool aside;                 /* a helper that counts no operations */
    uint64_t random;            /* state of random_next */
    uint64_t operations;        /* within the window */
    uint64_t operations_ever;   /* in the whole run, for checks */
    uint64_t writes;            /* of readers and writers, in the whole run */
    uint64_t balance;           /* compared by the workload's check */
    uint64_t longest_run;       /* consecutive acquisitions of a lock */
    uint64_t longest_gap;       /* between the ends of two operations in the window */
    uint64_t last_end;          /* of an operation within the window, or 0 */
    uint64_t left;              /* time at which it finished */
    struct statistics *statistics; /* its own; where workers take turns, the first's */
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
     * ACM TOCS 2019) that use their locks in this way; NULL for micro-benchmarks. */
    const char *shape_of;
    const char *shorthand; /* name:N sets this knob, or NULL */
    unsigned threads_least, threads_most;
    bool takes_lock;
    bool takes_rwlock; /* instead of a mutex, or as well if takes_lock is set */
    bool takes_load;   /* a file; not listed, as only other programs write one */
    bool unpinned; /* the scheduler places workers unless CPUs are given */
    unsigned setting_count;
    struct setting settings[SETTINGS_MAX]; /* its knobs and their defaults */

    /* Allocates shared data. On failure calls explain() and returns false. */
    bool (*prepare)(struct run *run);
    /* Called by each worker before the clock starts, or NULL. */
    void (*enter)(struct run *run, struct worker *worker);
    void (*work)(struct run *run, struct worker *worker);
    /* Checks the result of a run. On failure calls explain() and returns false. */
    bool (*check)(struct run *run);
    /* Prints further members of the JSON object, or NULL. */
    void (*report)(const struct run *run);
};

/* The only list of workloads. */
extern const struct workload workload_list[];
extern const unsigned workload_count;

struct run {
    const struct workload *workload;
    const struct lock_operations *lock;
    struct rwlock_operations rwlock;
    unsigned threads;
    const int *cpus; /* NULL: the scheduler places workers */
    uint64_t seed;
    uint64_t warm_up, duration; /* cycles */
    uint64_t knobs[KNOB_COUNT];
    const char *load; /* file of a workload that takes one, or NULL */

    struct worker *workers;
    struct statistics *statistics; /* of each worker */
    void *shared; /* data of the workload */
    struct meeting meeting __attribute__((aligned(CACHE_LINE)));
    uint64_t window_start, window_end;
    struct platform_counts counts_start, counts_end;
    bool counting, counted;  /* counts_start and counts_end have been taken */
    uint64_t started, ended; /* when all workers had arrived, and when the last left */
    char explanation[200];   /* why the run failed */
    bool refused;            /* because the request cannot be met */
};

/* Prepares, runs and checks. On failure calls explain() and returns false. */
bool run_measure(struct run *run);

void explain(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns zeroed memory of node `home`. On failure calls explain() and returns NULL. */
void *run_memory(struct run *run, size_t bytes);

static inline uint64_t cycles_of_ns(uint64_t ns)
{
    uint64_t each_second = cycles_per_second();
    return ns / 1000000000 * each_second + ns % 1000000000 * each_second / 1000000000;
}

/* Returns the sum of two knobs in cycles. */
uint64_t run_cycles(const struct run *run, enum knob cycles, enum knob ns);

/* Reads the platform's counters at both ends of the window. */
void run_take_counts(struct run *run, uint64_t now);

/* Returns true before the end of the window; `now` is approximately the current
 * time. */
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

/* Counts an operation that began at `start` and ended at `end`. */
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
        histogram_add(&worker->statistics->operation, end - start);
    }
}

/* Returns a timestamp once all stores of the caller are visible. */
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

/* Returns a number from 0 to `below` - 1; `below` must be much smaller than 2^32. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    return (random_next(state) >> 32) * below >> 32;
}

/* Pauses for `cycles`, varied at random by up to `percent` in both directions. */
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
