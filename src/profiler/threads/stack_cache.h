/* SPDX-License-Identifier: MIT */
/*
 * Each thread's cache of stacks, and its budget for unwinding.
 *
 * A thread first looks a stack up by return address and stack pointer. Two callers of
 * one wrapper may agree in both, so the cache also remembers where the next return
 * addresses were on the stack and checks that they are still there. A new stack is
 * unwound only while the thread has spent a small share of its time on unwinding; after
 * that, the last stack with the same return address is used instead. Origins of locks
 * are always unwound.
 */
#ifndef HASP_PROFILER_THREADS_STACK_CACHE_H
#define HASP_PROFILER_THREADS_STACK_CACHE_H

#include "profiler/threads/recordings.h"

/* Returns the number of the stack that begins with `caller`, or 0. */
uint32_t stack_take(struct recording *me, void *caller);

/* Does the same regardless of the budget, for the origin of a lock. */
uint32_t stack_of_origin(struct recording *me, void *caller);

/* Empties the cache when a new thread takes over the record. */
void stacks_begin_thread(struct recording *me);

#endif
