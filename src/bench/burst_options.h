/* SPDX-License-Identifier: MIT */
/* The options of programs that let a subject, by name, work for a burst. */
#ifndef HASP_BENCH_BURST_OPTIONS_H
#define HASP_BENCH_BURST_OPTIONS_H

#include "bench/burst.h"

#include <getopt.h>
#include <stdlib.h>

struct burst_options {
    const char *subject, *lock;
    uint64_t elements, percent;
    struct burst burst;
    bool lists; /* only list the subjects */
};

#define BURST_OPTIONS                                                                  \
    {"subject", 1, NULL, 's'}, {"lock", 1, NULL, 'l'}, {"threads", 1, NULL, 't'},      \
    {"elements", 1, NULL, 'e'}, {"milliseconds", 1, NULL, 'm'}, {"list", 0, NULL, 'L'}

/* An option of this number, as getopt_long() has found it; 'u' is the percentage.
 * Returns false if it is none of these. */
static inline bool burst_option(struct burst_options *options, int option)
{
    uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;
    switch (option) {
    case 's':
        options->subject = optarg;
        return true;
    case 'l':
        options->lock = optarg;
        return true;
    case 't':
        options->burst.threads = number;
        return true;
    case 'e':
        options->elements = number;
        return true;
    case 'u':
        options->percent = number;
        return true;
    case 'm':
        options->burst.milliseconds = number;
        return true;
    case 'L':
        options->lists = true;
        return true;
    default:
        return false;
    }
}

static inline bool burst_options_valid(const struct burst_options *options)
{
    return options->burst.threads && options->burst.threads < BURST_THREADS &&
           options->percent <= 100 && options->burst.milliseconds;
}

#endif
