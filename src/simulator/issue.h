/* SPDX-License-Identifier: MIT */
/*
 * The cost of an access that does not wait for its line: a load that hits, a store
 * into the buffer, a prefetch. An out-of-order core overlaps it with the operation
 * before, so it adds less than its latency, mostly less than a cycle.
 */
#ifndef HASP_SIMULATOR_ISSUE_H
#define HASP_SIMULATOR_ISSUE_H

#include "simulator/thread.h"

enum { MILLI = 1000 };

/* Adds the cost of an access that takes `alone` cycles by itself. */
static inline void issue(struct thread *self, uint64_t alone)
{
    if (!machine.local.issue_millicycles) { /* the core executes in order */
        self->now += alone;
        return;
    }
    self->issued += (uint32_t)machine.local.issue_millicycles;
    self->now += self->issued / MILLI;
    self->issued %= MILLI;
}

/* Adds the cost of a load that hits, with the code around it. */
static inline void issue_hit(struct thread *self)
{
    issue(self, machine.local.l1 + machine.local.code);
}

#endif
