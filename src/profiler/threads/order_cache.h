/* SPDX-License-Identifier: MIT */
/*
 * The order of locks: which were acquired while which others were held.
 *
 * A pair is a record of its own in the trace, made the first time, with the stack of
 * that time. A thread keeps the pairs it has met lately, so that meeting one again
 * costs a look at its own memory.
 */
#ifndef HASP_PROFILER_THREADS_ORDER_CACHE_H
#define HASP_PROFILER_THREADS_ORDER_CACHE_H

#include "profiler/threads/recordings.h"

/* Before a lock is acquired while others are held (me->hold), or waited for; `reading`:
 * a rwlock, by a reader. */
void order_acquiring(struct recording *me, uint32_t inner, bool reading, void *caller);

/* The same for an acquisition, perhaps by a trylock that has succeeded, of which
 * nothing new is to be learned: false, and nothing is counted, when a pair is not known
 * to the thread, and should be looked at. */
bool order_is_known(struct recording *me, uint32_t inner, bool by_try, void *caller);

/* The same, by a trylock that has succeeded. */
void order_acquired_by_trylock(struct recording *me, uint32_t inner, void *caller);

/* Adds what the thread has counted to the records. */
void order_flush(struct recording *me);

#endif
