/* SPDX-License-Identifier: MIT */
/* Explores every state that a client can reach, within limits: depth first, and every
 * state once. */
#ifndef HASP_EXPLORER_SEARCH_SEARCH_H
#define HASP_EXPLORER_SEARCH_SEARCH_H

#include "explorer/base/client.h"

#include <stdint.h>

enum { UNBOUNDED = 255 };

struct limits {
    unsigned preemptions; /* UNBOUNDED: any number */
    double seconds;
    uint64_t states;
    bool ids_matter; /* the behaviour of the lock depends on thread ids */
};

struct outcome {
    bool complete;        /* every schedule was explored */
    unsigned preemptions; /* otherwise all schedules with at most this many preemptions
                             were; UNBOUNDED: not even all those without */
    bool interrupted;
    uint64_t states, executions;
    double seconds;
    char verdict[32]; /* "ok", or the kind of finding */
    char detail[512]; /* with "ok": the table that was too small, if one was */
};

/* Raises the bound on preemptions step by step, so that a counterexample has as few as
 * possible. */
struct outcome search(const struct client *client, const struct limits *limits);

/* Set by a signal handler to end the search soon. */
extern volatile int search_interrupted;

#endif
