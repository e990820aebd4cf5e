/* SPDX-License-Identifier: MIT */
/*
 * The next operation of a thread: its possible outcomes, and performing it.
 *
 * Not every operation is a scheduling point. Between two of them a thread runs a block:
 * it reads, then performs one operation whose moment other threads can observe, then
 * writes (R. Lipton, "Reduction: a method of proving properties of parallel programs",
 * CACM 1975). Plain loads are right movers, because an old message stays readable for
 * every thread that has not seen a newer one. Plain stores are left movers, because no
 * thread has to read a new message, and others may still place theirs before it.
 */
#ifndef HASP_EXPLORER_EXECUTION_STEPS_H
#define HASP_EXPLORER_EXECUTION_STEPS_H

#include "explorer/base/model.h"

/* Returns the number of possible outcomes; 0 if the operation is not enabled. */
unsigned choices_of(int thread, uint16_t *choices);

/* Performs the operation; returns false if the thread does not continue yet. */
bool perform(int thread, uint16_t choice);

/* Returns whether the request belongs to the block that the thread is in. */
bool may_go_on(const struct thread *thread, const struct request *request);

/* Returns whether the thread waits, so that running another one is not a preemption. */
bool gives_way(const struct thread *thread);

#endif
