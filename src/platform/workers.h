/* SPDX-License-Identifier: MIT */
/*
 * The workers contract: what programs that measure a machine need beyond platform.h.
 * Each platform implements it in its workers.c: natively for this machine, simulated
 * for the machine that a file describes.
 *
 * MACHINE. use_machine(path) selects the machine, before any other call. A simulating
 * platform requires it; natively there is no choice and it fails. machine_name()
 * returns the name given in the file; natively "this host".
 *
 * PARKING. use_park_cost(ns, measured) says what the locks know of the cost of parking
 * (platform.h: spin_limit) as soon as the lock is chosen: `ns` natively, on a simulated
 * machine the measure in its file. If it was not measured (ns 0), they estimate it from
 * the cost of a system call, as locks that never park do under `hasp run`.
 *
 * WORKERS. run_workers runs `count` bodies concurrently, body i on CPU cpus[i] (cpus
 * NULL or cpus[i] -1: any CPU), and returns when all have ended. If a CPU cannot be
 * used, it returns false without running any body. workers_error() returns the reason
 * why the last use_machine or run_workers failed, in words. workers_take_turns()
 * returns true if a worker runs alone until it accesses a cell, reads the time or
 * waits; then workers may share variables that are not cells.
 *
 * TIME. cycles_ordered() returns a timestamp taken after all earlier loads and atomic
 * operations have completed and before any later one starts; after full_fence() that
 * includes stores. Its rate is cycles_per_second(): constant, not the core's clock
 * rate. ticks() counts the same cycles, unordered and cheaper. ticks_aside() does so
 * for bookkeeping: where time is simulated, the call takes none. pause_cycles(n) takes
 * about n cycles and accesses no memory.
 *
 * ACCESSES AHEAD. An out-of-order processor begins accesses that do not depend on each
 * other before the first one ends. A simulated one cannot know which these are, so a
 * workload calls access_ahead(address, writes) for each; natively that does nothing.
 *
 * LINES. full_fence() returns when all earlier stores are visible everywhere.
 * evict_line(address) removes the line from every cache and returns when that is done;
 * false where the platform cannot. touch_lines(base, lines) reads and writes each of
 * `lines` consecutive lines once. shared_pages(bytes, node): zeroed, page-aligned
 * memory on that NUMA node, or with -1 on the node that touches it first; never
 * unmapped; NULL when memory is exhausted.
 *
 * MEETING. arrive_together(meeting, count) returns once `count` workers have called it;
 * a meeting can be reused. Zeroed memory is a meeting.
 *
 * COUNTS. platform_counts_now(counts) stores the platform's counters without disturbing
 * them; `known` is false on a platform that has none.
 *
 * A simulated program keeps its cells in memory from shared_pages() or map_pages(), in
 * static variables or, if no other worker accesses them, on a worker's stack, never in
 * memory from malloc(). Code outside workers takes no simulated time. A simulation that
 * deadlocks prints which worker waits for which, and exits with status 1.
 */
#ifndef HASP_PLATFORM_WORKERS_H
#define HASP_PLATFORM_WORKERS_H

#include <stddef.h>

#include "platform/platform.h"

bool use_machine(const char *path);
const char *machine_name(void);
bool run_workers(unsigned count, const int *cpus,
                 void (*body)(unsigned index, void *argument), void *argument);
const char *workers_error(void);
bool workers_take_turns(void);
void use_park_cost(uint32_t ns, bool measured);

uint64_t cycles_ordered(void);
uint64_t cycles_per_second(void);
uint64_t ticks_aside(void);
void pause_cycles(uint64_t cycles);

void access_ahead(const void *address, bool writes);
void full_fence(void);
bool evict_line(const void *address);
void touch_lines(void *base, unsigned lines);
void *shared_pages(size_t bytes, int node);

struct meeting {
    struct atomic_u32 arrived;
    struct atomic_u32 generation;
};
void arrive_together(struct meeting *meeting, uint32_t count);

struct platform_counts {
    uint64_t transfers_local;  /* of cache lines, within a node */
    uint64_t transfers_remote; /* between nodes */
    uint64_t energy_pj;
    uint64_t events; /* of the simulation, which measure what it costs */
    bool known;
};
void platform_counts_now(struct platform_counts *counts);

#endif
