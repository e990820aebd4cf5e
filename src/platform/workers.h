/* SPDX-License-Identifier: MIT */
/*
 * The workers contract: what programs that measure a machine want beyond platform.h.
 * Each platform implements it in its workers.c: natively on this machine, simulated on
 * the one that a file describes.
 *
 * MACHINE. use_machine(path) picks the machine to run on, before anything else here. A
 * platform that simulates needs one; natively there is no choice, and it fails.
 * machine_name() is what the file calls it; natively "this host".
 *
 * WORKERS. run_workers runs `count` bodies at the same time, body i on CPU cpus[i]
 * (cpus NULL or cpus[i] -1: wherever the scheduler likes), and returns when all have.
 * False, with none of them run, when a CPU is refused. workers_error() says in words
 * why the last use_machine or run_workers failed.
 *
 * TIME. cycles_ordered() is a timestamp taken after all earlier loads and atomic
 * operations are done, and before any later one starts; behind full_fence() that holds
 * for stores, too. Its rate is cycles_per_second(): constant, not the core's clock.
 * ticks() counts the same cycles, unordered and cheaper. pause_cycles(n) spends about n
 * of them and touches no memory.
 *
 * LINES. full_fence() returns when all earlier stores are visible everywhere.
 * evict_line(address) removes the line from every cache, and returns when it is gone;
 * false where the platform cannot. touch_lines(base, lines) reads and writes each of so
 * many consecutive lines once. shared_pages(bytes, node): zeroed, page-aligned memory
 * on that NUMA node, on that of its first touch for -1; never given back; NULL when
 * there is none.
 *
 * MEETING. arrive_together(meeting, count) returns once `count` workers have called it;
 * they may meet again. Zeroed memory is a meeting.
 *
 * COUNTS. platform_counts_now(counts) fills in what the platform has counted so far, at
 * no cost; known is false where it cannot tell.
 *
 * A simulated program keeps its cells in memory of shared_pages() or map_pages(), in
 * static variables or, where nobody else looks, on a worker's stack, not in what
 * malloc() gave. Outside of workers it runs in no time. One that can never end says who
 * waits for whom, and exits with status 1.
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

uint64_t cycles_ordered(void);
uint64_t cycles_per_second(void);
void pause_cycles(uint64_t cycles);

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
    uint64_t transfers_local;  /* of lines, within a node */
    uint64_t transfers_remote; /* between nodes */
    uint64_t energy_pj;
    bool known;
};
void platform_counts_now(struct platform_counts *counts);

#endif
