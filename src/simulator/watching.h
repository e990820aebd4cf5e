/* SPDX-License-Identifier: MIT */
/*
 * Waiting until a line changes, without events while none does.
 *
 * A spinning thread rereads its cells in its own cache until it loses a line. It then
 * requests the line again, waits in the line's queue, and compares the value. All of
 * that is simulated by the event loop, and the thread's coroutine continues only when a
 * cell has a new value. The code of a spin iteration is assumed to depend only on the
 * cells that it reads, and on the clock if it reads that. A thread that also writes (an
 * exchange, a prefetch for writing) continues as soon as it loses exclusive ownership
 * of the line.
 *
 * A thread that yields its CPU from time to time while it waits needs no event for
 * that, either, unless another thread wants the CPU.
 */
#ifndef HASP_SIMULATOR_WATCHING_H
#define HASP_SIMULATOR_WATCHING_H

#include "simulator/line.h"

/* Records that the thread has read `value`, in that epoch of the line. */
void remember_read(struct thread *self, struct line *line, uint32_t epoch,
                   const void *address, uint32_t size, uint64_t value);

/* Handlers of EVENT_LOST, EVENT_POLL and EVENT_ARRIVED. */
void line_lost(uint32_t line, uint64_t time);
void watch_polls(uint32_t number, uint64_t time);
/* Returns the thread if it continues at once, or NULL. */
struct thread *line_arrived(uint32_t number, uint64_t time);
void stop_watching(struct thread *thread, uint64_t time);

/* Aborts if a cell that the thread watches has changed, and no event is queued to
 * notice that. */
void check_watches(const struct thread *thread, uint64_t time);

/* Ends a wait that has timed out, and checks its watches. */
void give_up_watching(struct thread *thread, uint64_t time);

#endif
