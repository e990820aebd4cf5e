/* SPDX-License-Identifier: MIT */
/* The run under way: its threads, and how it can continue. */
#ifndef HASP_EXPLORER_EXECUTION_RUN_H
#define HASP_EXPLORER_EXECUTION_RUN_H

#include "explorer/base/model.h"
#include "explorer/base/client.h"

struct choice {
    uint8_t thread, costs; /* costs: preemptions */
    uint16_t what;
};

struct run {
    const struct client *client;
    bool ids_matter; /* symmetric threads may start in any order */
    unsigned preemptions, bound;
    bool cut; /* some choice was beyond the bound */
};

extern struct run run;

void run_begin(void);
bool run_is_over(void);

/* Returns the number of choices; 0 in a run that is not over means a deadlock. */
unsigned run_choices(struct choice *into);

/* Makes one choice and runs the thread to its next one. Returns false if that was a
 * redundant iteration of a waiting loop. */
bool run_advance(struct choice choice);

/* Returns whether running another thread than the last one would be a preemption. */
bool run_last_goes_on(void);

#endif
