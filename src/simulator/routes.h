/* SPDX-License-Identifier: MIT */
/*
 * The latency of a request: the machine file's figure for the operation, the state of
 * the line and a distance. The protocol decides which distance counts.
 */
#ifndef HASP_SIMULATOR_ROUTES_H
#define HASP_SIMULATOR_ROUTES_H

#include "simulator/line.h"

struct route {
    uint32_t cycles;
    bool remote; /* leaves the requester's place */
};

void routes_start(void);
struct route route_of(struct line *line, const struct thread *thread,
                      enum machine_operation operation);

#endif
