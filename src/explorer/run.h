/* SPDX-License-Identifier: MIT */
/* The run under way: its threads, and what can happen next. */
#ifndef HASP_EXPLORER_RUN_H
#define HASP_EXPLORER_RUN_H

#include "explorer/clients.h"
#include "explorer/model.h"

enum { CHOICES = 256 }; /* of a thread */

struct choice {
    uint8_t thread, costs;
    uint16_t what;
};

struct run {
    const struct client *client;
    bool ids_matter; /* threads that are alike may begin in any order */
    unsigned preemptions, bound;
    bool cut; /* some way on would have been beyond the bound */
};

extern struct run run;

void run_begin(void);
bool run_is_over(void);
/* No way on, for a run that is not over: a deadlock. */
unsigned run_ways_on(struct choice *into);
/* One choice is made; the thread runs on to its next one. False: to no avail. */
bool run_advance(struct choice choice);
/* Whether another thread would preempt the one that ran last. */
bool run_last_goes_on(void);
void report_deadlock(void);

#endif
