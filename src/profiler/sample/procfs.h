/* SPDX-License-Identifier: MIT */
/* What the kernel tells about the threads of this process. */
#ifndef HASP_PROFILER_SAMPLE_PROCFS_H
#define HASP_PROFILER_SAMPLE_PROCFS_H

#include "platform/platform.h"

/* 'R' running or ready, 'S' asleep ...; 0: there is no such thread. */
char procfs_state(uint32_t tid);

struct procfs_thread {
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary;
    uint64_t minor_faults, major_faults;
};
bool procfs_thread(uint32_t tid, struct procfs_thread *thread);

/* Whether a seccomp filter is in place. */
bool procfs_is_filtered(void);

/* Threads of this process that have not ended, or more than `enough`. */
uint32_t procfs_threads(uint32_t enough);

#endif
