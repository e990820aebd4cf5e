/* SPDX-License-Identifier: MIT */
/*
 * Code that runs at each context switch, like an eBPF program at sched_switch. It takes
 * no simulated time, but the lines that it writes are transferred.
 */
#ifndef HASP_SIMULATOR_MONITOR_H
#define HASP_SIMULATOR_MONITOR_H

#include "simulator/scheduler.h"

/* Sets what the scheduler calls when a thread gets a CPU, and when it loses it without
 * going to sleep. */
static inline void monitor_switches(switch_monitor *function)
{
    scheduler_monitor = function;
}

/* Writes to a cell of four bytes from the monitor, on the thread's CPU. */
void monitor_writes(const struct thread *thread, void *cell, uint32_t value,
                    uint64_t now);

#endif
