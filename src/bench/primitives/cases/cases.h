/* SPDX-License-Identifier: MIT */
/* The cases that hasp-bench-primitives can measure. */
#ifndef HASP_BENCH_PRIMITIVES_CASES_H
#define HASP_BENCH_PRIMITIVES_CASES_H

#include "bench/primitives/workers.h"

/* Work in a critical section, in loads or increments of one word. */
enum { SECTION_WORK = 8 };

struct measured {
    double value;
    double fairness; /* negative: not measured */
};

struct primitive_case {
    const char *name, *kind, *unit;
    bool lower_is_better;
    unsigned threads[5]; /* numbers of threads to measure, ended by 0 */
    struct measured (*measure)(unsigned threads, double seconds);
    const char *summary;
};

extern const struct primitive_case rwlock_cases[], spinlock_cases[], barrier_cases[];
extern const unsigned rwlock_case_count, spinlock_case_count, barrier_case_count;

#endif
