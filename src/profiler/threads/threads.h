/* SPDX-License-Identifier: MIT */
/*
 * Registration and end of recorded threads.
 *
 * A thread registers when it starts, or at its first recorded operation. Its record
 * remains when it ends. Once there are THREADS_KEPT, a new thread takes over the record
 * of the thread that ended first; the old lock counts and site statistics are merged
 * into those of the locks and of thread 0.
 */
#ifndef HASP_PROFILER_THREADS_THREADS_H
#define HASP_PROFILER_THREADS_THREADS_H

#include "profiler/threads/recordings.h"

enum { THREADS_KEPT = 256 };

/* Called once, before any thread is recorded. `at_end_of` is called first when a thread
 * ends. */
void threads_prepare(void (*at_end_of)(struct recording *me));
void threads_forget(void);

/* Registers the calling thread. Returns NULL when there is no space. */
struct recording *thread_register(void);

/* Called when the calling thread ends. */
void thread_end(struct recording *me);

/* Stores the kernel's counters of the calling thread. */
void thread_account(struct recording *me);

#endif
