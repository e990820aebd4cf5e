/* SPDX-License-Identifier: MIT */
/* The kernel's data on the threads of this process, from /proc. */
#ifndef HASP_PROFILER_SAMPLE_PROCFS_H
#define HASP_PROFILER_SAMPLE_PROCFS_H

#include "platform/platform.h"

/* Returns the thread's state: 'R' for running or ready, 'S' for asleep and so on. If
 * there is no such thread, returns 0. */
char procfs_state(uint32_t tid);

/* Stores the state, and the CPU that the thread runs on or ran on last. Returns false
 * if there is no such thread. */
struct procfs_state {
    char letter;
    int cpu;
};
bool procfs_state_and_cpu(uint32_t tid, struct procfs_state *state);

/* Returns the time in ns of its CPU's clock when the scheduler last accounted for the
 * thread: for one that is not running, when it last ran. 0: not known. */
uint64_t procfs_accounted_at(uint32_t tid);

/* The system call that a thread is blocked in. */
struct procfs_call {
    long number; /* or enum trace_no_call */
    uint64_t argument[3];
    uint64_t stack_pointer, instruction;
};

/* Returns false if the file cannot be read, or the thread is running. `*readable` is
 * set to whether the file could be read. */
bool procfs_call(uint32_t tid, struct procfs_call *call, bool *readable);

/* Stores the ids of up to `most` threads, skipping the first `skipped`. Returns how
 * many; fewer than `most` at the end of the list. */
uint32_t procfs_tasks(uint32_t *tids, uint32_t most, uint32_t skipped);

struct procfs_thread {
    char name[16];
    uint64_t cpu_ns, user_ns, system_ns; /* the latter two rounded down to 10 ms */
    uint64_t voluntary, involuntary;
    uint64_t minor_faults, major_faults;
};
bool procfs_thread(uint32_t tid, struct procfs_thread *thread);

/* Returns how long the CPUs of the machine have been idle since its start, in sum, in
 * ns; 0 if it is not known. */
uint64_t procfs_idle_ns(void);

/* Returns the number of CPUs of the machine that are online; 0 if it is not known. */
uint32_t procfs_machine_cpus(void);

/* Returns whether the process has a seccomp filter. */
bool procfs_is_filtered(void);

/* Returns the number of live threads; it may stop counting above `enough`. */
uint32_t procfs_threads(uint32_t enough);

#endif
