/* SPDX-License-Identifier: MIT */
/*
 * What a request costs, by the protocol of the machine: the table's figure for the
 * operation, the line's state and a distance; which distance, that is the protocol's.
 */
#ifndef HASP_SIMULATOR_ROUTES_H
#define HASP_SIMULATOR_ROUTES_H

#include "simulator/line.h"

struct route {
    uint32_t cycles;
    bool remote; /* not within the requester's place */
};

void routes_start(void);
struct route route_of(struct line *line, const struct thread *thread,
                      enum machine_operation operation);

/* Of a core. */
unsigned place_of(unsigned core);

#endif
