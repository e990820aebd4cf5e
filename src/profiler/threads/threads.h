/* SPDX-License-Identifier: MIT */
/*
 * The threads that are recorded.
 *
 * A thread registers when it first does something that is recorded, or begins. When it
 * has ended its record stays, until there are many: then a new thread takes the record
 * of the one that ended first, whose counts and uses are merged into those of the locks
 * and of thread 0.
 */
#ifndef HASP_PROFILER_THREADS_THREADS_H
#define HASP_PROFILER_THREADS_THREADS_H

#include "profiler/threads/recordings.h"

enum { THREADS_KEPT = 256 };

/* Once, before any thread is recorded; the function is called first at their ends. */
void threads_prepare(void (*at_end_of)(struct recording *me));
void threads_forget(void);

/* Registers the calling thread; NULL: no place. It is inside afterwards. */
struct recording *thread_register(void);

/* The end of the calling thread. */
void thread_end(struct recording *me);

/* What the kernel counted for the calling thread. */
void thread_account(struct recording *me);

#endif
