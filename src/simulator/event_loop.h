/* SPDX-License-Identifier: MIT */
/* Handles events in order until one of them resumes a thread. */
#ifndef HASP_SIMULATOR_EVENT_LOOP_H
#define HASP_SIMULATOR_EVENT_LOOP_H

#include "simulator/thread.h"

/* What each kind of event does is decided in layers above this one. */
struct event_handlers {
    /* Returns the thread that continues at once, or NULL. EVENT_RESUME has none. */
    struct thread *(*handle[EVENT_KINDS])(uint32_t subject, uint64_t time);
    /* No event is left, but threads are. */
    void (*nothing_left)(void) __attribute__((noreturn));
    /* A doomed thread is about to continue. */
    void (*roll_back)(struct thread *thread) __attribute__((noreturn));
};
extern const struct event_handlers *event_handlers;

/* Handles events until one of them resumes a thread, which is returned. */
struct thread *next_thread(void);

/* Lets what comes before the running thread's next step happen. */
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
