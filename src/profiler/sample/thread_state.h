/* SPDX-License-Identifier: MIT */
/*
 * The current state of a thread.
 *
 * The kernel has one state for running threads and those that wait for a CPU. They
 * differ in their CPU time: it grows while the sampler reads the state. But the sampler
 * itself may have interrupted a thread on its CPU. Such a thread last ran just before
 * the sampler woke up; if the kernel does not tell that time, its state is not known.
 */
#ifndef HASP_PROFILER_SAMPLE_THREAD_STATE_H
#define HASP_PROFILER_SAMPLE_THREAD_STATE_H

#include "profiler/sample/procfs.h"

struct thread_state {
    char letter; /* of /proc, such as 'S' */
    bool on_cpu; /* of 'R' */
    struct procfs_call call;
};

/* Call when the sampler has woken up. */
void thread_states_begin(void);

/* Returns false if the state is not known. Notes in the header what cannot be read. */
bool thread_state_read(uint32_t tid, struct thread_state *state);

/* Returns the thread's CPU time in ns, or 0. */
uint64_t thread_cpu_ns(uint32_t tid);

#endif
