/* SPDX-License-Identifier: MIT */
/*
 * The thread that looks at the others: who waits for what, how the process fares.
 *
 * It takes no part in the program: all signals are blocked, it is not counted among the
 * threads, and when it is the last one it ends, which ends a process whose first thread
 * has called pthread_exit.
 */
#ifndef HASP_PROFILER_SAMPLE_SAMPLER_H
#define HASP_PROFILER_SAMPLE_SAMPLER_H

#include "platform/platform.h"

#include <pthread.h>

enum { SAMPLER_HZ = 100 };

/* pthread_create behind the hook. */
typedef int sampler_create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                           void *);

/* Starts it, once; called when the program itself creates a thread. */
void sampler_start(sampler_create *create);
void sampler_forget(void);

/* Keeps the sampler away from the loader's locks during a fork, which would copy them.
 * Returns false, with nothing to resume, when the sampler does not let go of them. */
bool sampler_pause(void) __attribute__((warn_unused_result));
void sampler_resume(void);

/* For good, when it has ended, or not within a while. */
void sampler_stop(void);

/* What the kernel counted for every thread that lives. */
void sampler_account_all(void);

#endif
