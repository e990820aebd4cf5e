/* SPDX-License-Identifier: MIT */
/*
 * A deterministic multicore: events on simulated threads and cache lines, in the order
 * of simulated time, which is counted in cycles of the machine. Lower layers first; a
 * module includes only what is listed above it.
 *
 *   machine      the description of the machine
 *   events       the queue of future events
 *   memory       simulated memory, its lines and their homes
 *   thread       the state of a simulated thread
 *   line         the state of a cache line
 *   holders      the cores that hold a line
 *   scheduler    which thread runs on which CPU
 *   event_loop   handles events until a thread continues
 *   marks        lines that hardware transactions have read or written
 *   issue        accesses that do not wait for their line
 *   routes       latencies by protocol and distance
 *   requests     how a request for a line is served
 *   stores       store buffers
 *   monitor      code that runs when threads get or lose CPUs
 *   ahead        accesses that begin before they are executed
 *   clock        simulated time in other units
 *   transactions hardware transactions
 *   watching     waiting until a line changes
 *   parking      futexes
 *   operations   the operations of platform/simulated, on cells
 *   deadlock     detects and describes programs that cannot end
 *   energy       energy, transfers and events
 *   run          runs threads, and registers the handlers of events
 *   workers      platform/workers.h on the simulated machine
 */
#ifndef HASP_SIMULATOR_SIMULATOR_H
#define HASP_SIMULATOR_SIMULATOR_H

#include "platform/simulated/operations.h"
#include "simulator/machine.h"

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
