/* SPDX-License-Identifier: MIT */
/*
 * Samples of holds in progress.
 *
 * A thread publishes which locks it holds but, unless the hold is timed, not since
 * when. If its own count of a lock has not changed between two samples, it is still in
 * the same hold.
 *
 * On the counted path a thread publishes a mutex as held before it acquires it. If
 * another thread is faster, the first one waits without publishing that. A mutex
 * contains its owner, so the sampler reads the mutex of a long hold and publishes the
 * wait if the owner is another thread.
 */
#ifndef HASP_PROFILER_SAMPLE_SAMPLE_HOLDS_H
#define HASP_PROFILER_SAMPLE_SAMPLE_HOLDS_H

#include "platform/platform.h"

/* Takes one sample of all threads. `ask`: also reads the mutexes. */
void sample_holds(bool ask);

/* Inspects some holders of locks that nobody waits for, if they have held them for a
 * sampler period or longer. Only the sampler may call this. */
void sample_long_holds(void);

#endif
