/* SPDX-License-Identifier: MIT */
/*
 * Waiting until a line changes, in simulated time and without events while nothing
 * does.
 *
 * A waiting thread would read its cells again and again, in its own cache, until it
 * loses a line; then it would fetch the line anew, wait in the line's queue for that,
 * and look. All that happens here, in the event loop: its coroutine goes on only when a
 * cell has a new value. Code between two turns of waiting is taken to depend on the
 * cells that it reads and on nothing else, but the clock, if it asked for it. Where it
 * writes as well (an exchange, a prefetch for writing), it goes on as soon as it is no
 * longer the only holder of the line.
 *
 * A watch is a thread's sight (threads.h): number thread * SIGHTS_MAX + index + 1.
 */
#ifndef HASP_SIMULATOR_WATCHING_H
#define HASP_SIMULATOR_WATCHING_H

#include "simulator/line.h"

/* The thread has read `value`, in the line's `epoch`. */
void see(struct thread *self, struct line *line, uint32_t epoch, const void *address,
         uint32_t size, uint64_t value);

/* The events. */
void line_lost(uint32_t line, uint64_t time);
void watch_turn(uint32_t watch, uint64_t time);
/* The thread that goes on at once, or NULL. */
struct thread *line_arrived(uint32_t watch, uint64_t time);
void stop_watching(struct thread *thread, uint64_t time);

/* It has waited long enough. Dies if it need not have: what it waits for has changed,
 * and nobody was going to tell it. */
void give_up_watching(struct thread *thread, uint64_t time);

#endif
