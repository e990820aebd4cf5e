/* SPDX-License-Identifier: MIT */
/*
 * A deterministic multicore: events on simulated threads and cache lines, in the order
 * of simulated time, counted in the machine's cycles.
 *
 *   events      what happens next
 *   threads     coroutines; a thread runs on until something else comes first
 *   lines       who holds a line, since when, and how long its transfers take
 *   routes      latencies between places
 *   stores      store buffers
 *   operations  what platform/simulated promises, on cells
 *   watching    waiting until a line changes
 *   parking     futexes
 *   scheduler   which thread has which CPU
 *   transactions   hardware transactions
 *   clock       time in other units
 *   energy      what is counted
 *   workers     what platform/workers.h promises
 *   deadlock    who waits for whom
 */
#ifndef HASP_SIMULATOR_SIMULATOR_H
#define HASP_SIMULATOR_SIMULATOR_H

#include "platform/simulated/operations.h"
#include "simulator/machine.h"

extern struct machine machine;

/* Since the program started. */
struct transfers {
    uint64_t local, remote; /* within a place, between places */
};
extern struct transfers transfers;

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
