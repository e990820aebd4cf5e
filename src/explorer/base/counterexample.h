/* SPDX-License-Identifier: MIT */
/* The steps of the run under way: a counterexample, if the run fails. */
#ifndef HASP_EXPLORER_BASE_COUNTEREXAMPLE_H
#define HASP_EXPLORER_BASE_COUNTEREXAMPLE_H

#include "explorer/base/request.h"

#include <stdio.h>

struct counterexample_step {
    int thread;
    uint8_t operation, order, change;
    const void *address, *other;
    uint64_t before, after;
    bool succeeded, stale; /* stale: a newer value could have been read */
    unsigned threads;      /* bit set of the threads woken or moved */
    const char *function;
};

void counterexample_add(const struct counterexample_step *step);
unsigned counterexample_length(void);
void counterexample_truncate(unsigned length);

/* Prints a table, or the items of a JSON array. */
void counterexample_print(FILE *to);
void counterexample_print_json(FILE *to);

#endif
