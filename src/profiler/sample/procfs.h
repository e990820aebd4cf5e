/* SPDX-License-Identifier: MIT */
/* The kernel's data on the threads of this process, from /proc. */
#ifndef HASP_PROFILER_SAMPLE_PROCFS_H
#define HASP_PROFILER_SAMPLE_PROCFS_H

#include "platform/platform.h"

/* Returns the thread's state: 'R' for running or ready, 'S' for asleep and so on. If
 * there is no such thread, returns 0. */
char procfs_state(uint32_t tid);

struct procfs_thread {
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary;
    uint64_t minor_faults, major_faults;
};
bool procfs_thread(uint32_t tid, struct procfs_thread *thread);

/* Returns whether the process has a seccomp filter. */
bool procfs_is_filtered(void);

/* Returns the number of live threads; it may stop counting above `enough`. */
uint32_t procfs_threads(uint32_t enough);

#endif
