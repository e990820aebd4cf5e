/* SPDX-License-Identifier: MIT */
/*
 * Each thread's cache of lock order: the pairs of locks that it has recently acquired
 * one inside the other. A known pair costs an access to the thread's own memory; the
 * shared table is in store/lock_order.h.
 */
#ifndef HASP_PROFILER_THREADS_ORDER_CACHE_H
#define HASP_PROFILER_THREADS_ORDER_CACHE_H

#include "profiler/threads/recordings.h"

/* Records the pairs of a lock that is about to be acquired while others are held.
 * `reading`: as a reader of a rwlock. */
void order_acquiring(struct recording *me, uint32_t inner, bool reading, void *caller);

/* Counts the pairs of an acquisition if the thread knows all of them. Returns false,
 * having counted nothing, when a pair is new to the thread: call one of the others
 * then. `by_try`: by a trylock that has succeeded. */
bool order_is_known(struct recording *me, uint32_t inner, bool by_try, void *caller);

/* Does the same as order_acquiring, after a trylock that has succeeded. */
void order_acquired_by_trylock(struct recording *me, uint32_t inner, void *caller);

/* Adds the thread's own counts to the records. */
void order_flush(struct recording *me);

#endif
