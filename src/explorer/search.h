/* SPDX-License-Identifier: MIT */
/* Looks at every state that a client can reach, within bounds. */
#ifndef HASP_EXPLORER_SEARCH_H
#define HASP_EXPLORER_SEARCH_H

#include "explorer/clients.h"

#include <stdint.h>

enum { UNBOUNDED = 255 };

struct limits {
    unsigned preemptions; /* UNBOUNDED: any number */
    double seconds;
    uint64_t states;
    bool ids_matter; /* the lock does one thing or another for a thread's id */
};

struct outcome {
    bool complete; /* every schedule was looked at */
    unsigned
        preemptions; /* else: all with so many preemptions; UNBOUNDED: not even 0 */
    bool interrupted;
    uint64_t states, executions;
    double seconds;
    char verdict[32]; /* "ok", or what is wrong */
    char detail[512];
};

/* Bound after bound, so that a finding has as few preemptions as possible. */
struct outcome search(const struct client *client, const struct limits *limits);

/* From a signal handler: end soon. */
extern volatile int search_interrupted;

#endif
