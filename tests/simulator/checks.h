/* SPDX-License-Identifier: MIT */
/* What the simulator's test programs share. If a check fails, they explain it on stderr
 * and exit with status WRONG. */
#ifndef HASP_TESTS_SIMULATOR_CHECKS_H
#define HASP_TESTS_SIMULATOR_CHECKS_H

#include "platform/workers.h"

#include <stdio.h>
#include <stdlib.h>

enum { WRONG = 3 };

static inline __attribute__((noreturn)) void wrong(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(WRONG);
}

static inline void expect(bool condition, const char *what)
{
    if (!condition)
        wrong(what);
}

static inline void run_on(unsigned count, const int *cpus,
                          void (*body)(unsigned index, void *argument))
{
    if (!run_workers(count, cpus, body, NULL))
        wrong(workers_error());
}

static inline struct deadline at_ns(uint64_t ns)
{
    return (struct deadline){CLOCK_MONOTONIC,
                             {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
}

#endif
