/* SPDX-License-Identifier: MIT */
/* What the kernel tells about the threads of this process. */
#ifndef HASP_PROFILER_SAMPLE_PROCFS_H
#define HASP_PROFILER_SAMPLE_PROCFS_H

#include "platform/platform.h"

/* 'R' running or ready, 'S' asleep ...; 0: there is no such thread. */
char proc_state(uint32_t tid);

struct proc_thread {
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary;
    uint64_t minor_faults, major_faults;
};
bool proc_thread(uint32_t tid, struct proc_thread *thread);

/* Whether a seccomp filter is in place. */
bool proc_is_filtered(void);

/* Threads of this process that have not ended, or more than `enough`. */
uint32_t proc_threads(uint32_t enough);

#endif
