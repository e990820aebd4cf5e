/* SPDX-License-Identifier: MIT */
/* What has happened so far in the run under way: the counterexample, if it fails. */
#ifndef HASP_EXPLORER_TRAIL_H
#define HASP_EXPLORER_TRAIL_H

#include "explorer/model.h"

#include <stdio.h>

struct trail_step {
    int thread;
    uint8_t operation, order, change;
    const void *address, *other;
    uint64_t before, after;
    bool succeeded, stale; /* stale: there was a newer value to be read */
    unsigned count;
    const char *function, *note;
};

void trail_add(const struct trail_step *step);
unsigned trail_length(void);
void trail_cut(unsigned length);

/* As a table; and as the items of a JSON array. */
void trail_print(FILE *to);
void trail_print_json(FILE *to);

#endif
