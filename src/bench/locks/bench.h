/* SPDX-License-Identifier: MIT */
/*
 * hasp-bench-locks measures one case of the lock under test once, and prints the result
 * as a JSON line.
 *
 * The lock under test is the implementation of the pthread functions: glibc's mutex, or
 * that of a preloaded library. This program does not distinguish them, and executes the
 * same instructions for every lock. Only --floor replaces the calls by an inlined
 * test-and-set byte, the lowest cost that mutual exclusion can have.
 *
 * A lock that hangs must not hang its measurement. The main thread never uses the lock
 * while others do (harness.h); in cases where it has to, a timer ends the process and
 * prints the results so far (main.c).
 */
#ifndef HASP_BENCH_LOCKS_BENCH_H
#define HASP_BENCH_LOCKS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    unsigned threads;
    unsigned mutexes; /* bytes_per_mutex: number of mutexes */
    double seconds;   /* duration of the measurement */
    double grace;     /* time that threads may take to end after that */
    unsigned beside;  /* uncontended: dependent multiplications after each pair */
    unsigned think_ns; /* think_time, section_time: CPU time outside the section */
    bool pinned;       /* the same: each thread stays on one CPU */
    bool floor;
};

/* The results so far, updated during the measurement so that they can be printed if it
 * hangs. Negative numbers are unknown. */
struct result {
    double value;
    double seconds;       /* measured time */
    double operations;    /* number of operations that the value is based on */
    double fairness;      /* fewest over most operations of a thread, 0 to 1 */
    double starvation_ms; /* longest time in which a thread completed no operation */
    const char *outcome;  /* "ok", "hang", "collapse" or "failed" */
    char reason[160];     /* in words; empty if ok */
};

struct bench_case {
    const char *name;
    const char *unit;
    const char *better; /* "lower" or "higher" */
    bool has_floor;
    bool uses_lock; /* false: a reference without a lock */
    const unsigned *think_times_ns; /* what a report measures, each pinned and not */
    unsigned think_time_count;      /* 0: threads do not think */
    unsigned (*default_threads)(void);
    unsigned (*also_threads[2])(void); /* further thread counts for reports, or NULL */
    bool (*threads_allowed)(unsigned threads);
    const char *threads_words; /* describes threads_allowed */
    double default_seconds;
    void (*measure)(const struct options *options, struct result *result);
    const char *summary;
};

/* The only list of cases, in the order of reports. */
extern const struct bench_case bench_cases[];
extern const unsigned bench_case_count;

void measure_uncontended(const struct options *options, struct result *result);
void measure_create_destroy(const struct options *options, struct result *result);
void measure_contended(const struct options *options, struct result *result);
void measure_think_time(const struct options *options, struct result *result);
void measure_section_time(const struct options *options, struct result *result);
void measure_load_change(const struct options *options, struct result *result);
void measure_oversubscribed(const struct options *options, struct result *result);
void measure_trylock(const struct options *options, struct result *result);
void measure_try_first(const struct options *options, struct result *result);
void measure_trylock_hammer(const struct options *options, struct result *result);
void measure_condvar_ping_pong(const struct options *options, struct result *result);
void measure_broadcast_queue(const struct options *options, struct result *result);
void measure_bytes_per_mutex(const struct options *options, struct result *result);
void measure_startup(const struct options *options, struct result *result);
void measure_baton_ring(const struct options *options, struct result *result);

/* Record why the measurement went wrong: it failed; threads are stuck; threads progress
 * far too slowly. */
void result_failed(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void result_hung(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void result_collapsed(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
