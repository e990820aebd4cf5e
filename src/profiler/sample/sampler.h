/* SPDX-License-Identifier: MIT */
/*
 * The sampler thread: it samples waiting threads, long holds and the process.
 *
 * It blocks all signals and is not counted among the threads. When it is the last
 * thread, it ends, so a process whose first thread has called pthread_exit ends too.
 */
#ifndef HASP_PROFILER_SAMPLE_SAMPLER_H
#define HASP_PROFILER_SAMPLE_SAMPLER_H

#include "platform/platform.h"

#include <pthread.h>

enum { SAMPLER_HZ = 100 };

/* The pthread_create function that the hook calls. */
typedef int sampler_create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                           void *);

/* Starts the sampler once, when the program first creates a thread. */
void sampler_start(sampler_create *create);
void sampler_forget(void);

/* Keeps the sampler away from the loader's locks during a fork, which would copy them.
 * Returns false when the sampler did not release them; do not call sampler_resume(). */
bool sampler_pause(void) __attribute__((warn_unused_result));
void sampler_resume(void);

/* Stops the sampler for good. Returns when it has ended, or after a bounded time. */
void sampler_stop(void);

/* Stores the kernel's counters of every live thread. */
void sampler_account_all(void);

#endif
