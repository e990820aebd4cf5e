/* SPDX-License-Identifier: MIT */
/*
 * Cache misses in critical sections, as in the RCL paper's profiler (Lozi et al.,
 * "Remote core locking", USENIX ATC 2012, section 4).
 *
 * Each thread has a hardware event (perf_event_open) that counts while the thread runs
 * in user mode. It is read after the acquisition and after the release, in sections
 * that are sampled and in one of several contended ones. Reading through the event's
 * page takes a few dozen cycles; where the kernel does not allow that, a reading takes
 * two system calls. Without such events, as in most virtual machines, the trace header
 * gives the reason and the counters stay 0.
 */
#ifndef HASP_PROFILER_THREADS_PERF_COUNTERS_H
#define HASP_PROFILER_THREADS_PERF_COUNTERS_H

#include "profiler/threads/recordings.h"

/* Called when recording begins. `wanted` is settings.counter. `filtered`: the process
 * already has a seccomp filter, which may kill it for an unusual system call. */
void perf_counters_prepare(const char *wanted, bool filtered);

/* Opens and closes the calling thread's event. */
void perf_counters_thread_begins(struct recording *me);
void perf_counters_thread_ends(struct recording *me);

/* Closes the events in a forked child, which cannot use them. */
void perf_counters_forget(void);

/* Called around a timed hold by a thread whose `counter` is not NULL. */
void perf_counters_section_begins(struct recording *me, struct record_hold *hold);
void perf_counters_section_ends(struct recording *me, const struct record_hold *hold);

#endif
