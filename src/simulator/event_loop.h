/* SPDX-License-Identifier: MIT */
/* Handles events in order until one of them resumes a thread. */
#ifndef HASP_SIMULATOR_EVENT_LOOP_H
#define HASP_SIMULATOR_EVENT_LOOP_H

#include "simulator/thread.h"

/* The modules that handle events depend on this one, so handlers are registered. */
struct event_handlers {
    /* Returns the thread that continues at once, or NULL. Unset for EVENT_RESUME. */
    struct thread *(*handle[EVENT_KINDS])(uint32_t subject, uint64_t time);
    /* Called when threads are left, but no events. */
    void (*nothing_left)(void) __attribute__((noreturn));
    /* Called when a doomed thread is about to continue. */
    void (*roll_back)(struct thread *thread) __attribute__((noreturn));
};
extern const struct event_handlers *event_handlers;

/* Call this before threads start. */
void event_loop_start(void);

/* Handles events until one of them resumes a thread, which is returned. */
struct thread *next_thread(void);

/* Handles the events that precede the running thread's next operation. */
void catch_up_with(struct thread *self);
static inline void catch_up(struct thread *self)
{
    if (__builtin_expect(next_event_time() <= self->now, 0))
        catch_up_with(self);
}

/* Suspends the running thread until an EVENT_RESUME for it. */
void block(void);

/* Suspends it until `time`. */
void block_until(struct thread *self, uint64_t time);

#endif
