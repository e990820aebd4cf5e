/* SPDX-License-Identifier: MIT */
/*
 * Stacks: taken within a budget, kept once each.
 *
 * A thread looks a stack up by the return address and the stack pointer first. Two
 * callers of one wrapper may agree in both; so it also keeps where the next return
 * addresses lay on the stack, and sees whether they are still there. It unwinds what is
 * new, but only while it has spent little of its time on that; else the last stack of
 * the same return address has to do. Not so for origins of locks, which are always
 * exact.
 */
#ifndef HASP_PROFILER_THREADS_STACK_CACHE_H
#define HASP_PROFILER_THREADS_STACK_CACHE_H

#include "profiler/threads/recordings.h"

/* The number of the stack that begins with `caller`, or 0. */
uint32_t stack_take(struct recording *me, void *caller);

/* The same, whatever it takes: for what names a lock. */
uint32_t stack_of_origin(struct recording *me, void *caller);

/* What was known of the stack of an earlier thread with the same record is gone. */
void stacks_begin_thread(struct recording *me);

#endif
