/* SPDX-License-Identifier: MIT */
/* The functions that the explorer offers to clients. */
#ifndef HASP_EXPLORER_EXECUTION_SERVICES_H
#define HASP_EXPLORER_EXECUTION_SERVICES_H

#include "platform/platform.h"

/* Ends the run with the verdict "assertion" unless the condition holds. */
void expect(bool condition, const char *text);

/* Returns a number below `alternatives`; the search explores every one. */
unsigned choose(unsigned alternatives);

void move_to_node(unsigned node);

/* Forks: the other threads vanish, and their waiters stay in the queues. */
void fork_here(void);

/* Forks, and returns true, if the threads of this bit set were waiting at the last
 * watch_waiters() and have not run since. */
bool fork_here_if_unmoved(unsigned threads);
void watch_waiters(void);

/* Watches the waiters, too. Returns whether this thread waits and cannot go on by
 * itself; the caller then sees all it wrote, as it has been waiting for a long time. */
bool sees_waiting(unsigned thread);

/* Returns whether this thread has not run since the last watch_waiters(). Only for
 * clients with `every_step`. */
bool has_not_moved(unsigned thread);

/* The calling thread is about to end without closing what it uses. */
void thread_dies(void);

/* Begins an operation: the thread's waits no longer depend on what it read before. */
void begin_operation(void);

/* Returns a new deadline, which may pass at any time from now on. */
const struct deadline *new_deadline(void);

#endif
