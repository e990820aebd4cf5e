/* SPDX-License-Identifier: MIT */
#include "simulator/event_loop.h"
#include "platform/simulated/switch.h"
#include "simulator/scheduler.h"

const struct event_handlers *event_handlers;

/* Returns the thread that the event resumes, or NULL. */
static struct thread *handle(struct event event)
{
    if (event.time == UINT64_MAX)
        event_handlers->nothing_left();
    const enum event_kind kind = event_kind(event);
    const uint32_t subject = event_subject(event);
    return kind == EVENT_RESUME ? &thread_table[subject]
                                : event_handlers->handle[kind](subject, event.time);
}

/* Handles events, `event` first, until one resumes a thread that has a CPU. */
static struct thread *next_thread_from(struct event event)
{
    struct thread *next;
    while (!(next = handle(event)) || !scheduler_resumes(next, event.time))
        event = event_take();
    next->now = event.time;
    return next;
}

struct thread *next_thread(void)
{
    return next_thread_from(event_take());
}

static void continue_with(struct thread *next)
{
    struct thread *self = running;
    running = next;
    if (next != self)
        switch_stack(&self->stack, next->stack);
    if (__builtin_expect(running->doomed, 0))
        event_handlers->roll_back(running);
}

void block(void)
{
    continue_with(next_thread());
}

void block_until(struct thread *self, uint64_t time)
{
    continue_with(next_thread_from(event_exchange(time, EVENT_RESUME, self->index)));
}

void catch_up_with(struct thread *self)
{
    block_until(self, self->now);
}
