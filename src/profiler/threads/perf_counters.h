/* SPDX-License-Identifier: MIT */
/*
 * Cache misses in critical sections: what the RCL paper's profiler counts (Lozi et al.,
 * "Remote core locking", USENIX ATC 2012, section 4).
 *
 * Each thread has an event of the processor's own (perf_event_open) that counts while
 * the thread runs outside of the kernel. It is read when a section has begun and when
 * the lock has been released: in those sections only that are timed because their turn
 * had come, and in one of some contended ones. Through the event's page that costs a
 * few dozen cycles; where the kernel does not allow that, two system calls. Where there
 * are no such events, as in most virtual machines, the trace's header says why, and
 * nothing else is done.
 */
#ifndef HASP_PROFILER_THREADS_PERF_COUNTERS_H
#define HASP_PROFILER_THREADS_PERF_COUNTERS_H

#include "profiler/threads/recordings.h"

/* When recording begins; `wanted`: settings.counter. `filtered`: a seccomp filter is
 * there already, which may kill for a call that it does not know. */
void perf_counters_prepare(const char *wanted, bool filtered);

/* The calling thread's event. */
void perf_counters_thread_begins(struct recording *me);
void perf_counters_thread_ends(struct recording *me);

/* A forked child has no such events. */
void perf_counters_forget(void);

/* Around a timed hold; `counter` of the thread is not NULL. */
void perf_counters_section_begins(struct recording *me, struct record_hold *hold);
void perf_counters_section_ends(struct recording *me, const struct record_hold *hold);

#endif
