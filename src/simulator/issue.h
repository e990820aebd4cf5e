/* SPDX-License-Identifier: MIT */
/*
 * What an access costs that need not wait for its line: a load that hits, a store into
 * the buffer, a prefetch. A core that executes out of order has it done beside the
 * operation before, so it adds less than its latency, mostly less than a cycle.
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

#endif
