/* SPDX-License-Identifier: MIT */
/*
 * hasp-bench-locks measures one case of the lock under test, once, and prints the
 * result as a line of JSON.
 *
 * The lock under test is whatever answers to the plain pthread names: glibc's mutex, or
 * another when a library is preloaded. Nothing here knows which, and every lock runs
 * through the same instructions of this program. Only --floor is different: it replaces
 * the calls by an inlined test-and-set byte, the least that mutual exclusion can cost.
 *
 * A lock that hangs must not hang its measurement. The main thread never touches the
 * lock while others use it (harness.h); where it has to, a timer ends the process with
 * what was measured so far (main.c).
 */
#ifndef HASP_BENCH_LOCKS_BENCH_H
#define HASP_BENCH_LOCKS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    unsigned threads;
    unsigned mutexes; /* bytes_per_mutex: how many */
    double seconds;   /* how long to measure */
    double grace;     /* how long threads may take to end once told to */
    unsigned beside;  /* uncontended: multiplications after each pair, in a chain */
    bool floor;
};

/* What is known so far; filled in as the measurement goes, so that it can be printed
 * when the rest of it never comes. Negative numbers mean: not measured. */
struct result {
    double value;
    double seconds;       /* measured time */
    double operations;    /* how many operations the value stands for */
    double fairness;      /* fewest over most operations of a thread, 0 to 1 */
    double starvation_ms; /* longest time that a thread went without an operation */
    const char *outcome;  /* "ok", "hang", "collapse" or "failed" */
    char reason[160];     /* in words; empty when ok */
};

struct bench_case {
    const char *name;
    const char *unit;
    const char *better; /* "lower" or "higher" */
    bool has_floor;
    bool uses_lock; /* false: a reference that no lock takes part in */
    unsigned (*default_threads)(void);
    unsigned (*also_threads)(void); /* reports show these as well, if not NULL */
    bool (*threads_allowed)(unsigned threads);
    const char *threads_words; /* what threads_allowed allows */
    double default_seconds;
    void (*measure)(const struct options *options, struct result *result);
    const char *summary;
};

/* THE list of cases, in the order in which reports show them. */
extern const struct bench_case bench_cases[];
extern const unsigned bench_case_count;

void measure_uncontended(const struct options *options, struct result *result);
void measure_create_destroy(const struct options *options, struct result *result);
void measure_contended(const struct options *options, struct result *result);
void measure_oversubscribed(const struct options *options, struct result *result);
void measure_trylock(const struct options *options, struct result *result);
void measure_trylock_hammer(const struct options *options, struct result *result);
void measure_condvar_ping_pong(const struct options *options, struct result *result);
void measure_broadcast_queue(const struct options *options, struct result *result);
void measure_bytes_per_mutex(const struct options *options, struct result *result);
void measure_startup(const struct options *options, struct result *result);
void measure_baton_ring(const struct options *options, struct result *result);

/* Say in `result` how the measurement went wrong: there is no figure; threads are
 * stuck; threads go on, but far too slowly. */
void result_failed(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void result_hung(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void result_collapsed(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
