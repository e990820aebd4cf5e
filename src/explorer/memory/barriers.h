/* SPDX-License-Identifier: MIT */
/*
 * Asymmetric barriers. A heavy barrier spans several steps: it begins, then reaches
 * each other thread at a moment that the search chooses, and ends when it has reached
 * all. Begin and end are full fences of the caller.
 *
 * Reaching a thread acts as a full fence there, but its position in the program is only
 * known relative to the thread's light barriers, because the compiler may move accesses
 * between these. So it publishes what the thread had seen and written at its last light
 * barrier, and what it delivers to the thread becomes visible at the next one. Without
 * a heavy barrier a light barrier has no effect. Like full fences, the pair orders
 * messages and creates no happens-before of its own.
 *
 * The set of executions does not change if a barrier reaches a thread later, as long as
 * no step comes in between that depends on it: a fence or futex call of any thread, or
 * a light barrier of the thread itself. So the search only considers these moments; see
 * barriers_choices() and heavy_barrier_orders().
 */
#ifndef HASP_EXPLORER_MEMORY_BARRIERS_H
#define HASP_EXPLORER_MEMORY_BARRIERS_H

#include "explorer/base/model.h"

void light_barrier_of(struct thread *thread);

void heavy_barrier_begin(int caller);
void heavy_barrier_reach(int thread, int caller);

/* The number of orders in which the caller's barrier can reach the remaining threads;
 * the end of the barrier reaches them in the order with this number. */
unsigned heavy_barrier_orders(int caller);
void heavy_barrier_end(int caller, unsigned order);

/* Returns whether some heavy barrier has begun and not reached all threads. */
bool barriers_under_way(void);

/* Returns whether `operation` is a fence or futex call. */
bool is_fence(uint8_t operation);

/* The pairs of a thread and the caller of a heavy barrier that may reach it now. */
struct barrier_choice {
    uint8_t thread, caller;
};
unsigned barriers_choices(struct barrier_choice *into);

/* The finisher stands for the threads that have ended. */
void barriers_thread_ended(const struct thread *ended);

/* Drops positions that no longer have any effect. */
void barriers_canonicalise(void);

/* After a fork: the callers do not exist in the child. */
void barriers_forget(void);

#endif
