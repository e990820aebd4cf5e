/* SPDX-License-Identifier: MIT */
#include "simulator/event_loop.h"
#include "platform/simulated/switch.h"
#include "simulator/memory.h"
#include "simulator/scheduler.h"

const struct event_handlers *event_handlers;

/* Returns the thread that the event resumes, or NULL. */
static struct thread *handle(struct event event)
{
    events.time = event.time;
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

/*
 * With many threads, events are handled on a stack of their own, which stays in the
 * host's nearest cache, unlike the stacks of a thousand threads. With few threads the
 * additional switches cost more than they save.
 */
enum { LOOP_STACK_BYTES = 64 << 10 };
static bool loops_apart;
static void *loop_stack; /* its saved stack pointer */
static struct event first_event; /* for the loop to handle */

static void loop(void)
{
    for (;;) {
        running = next_thread_from(first_event);
        switch_stack(&loop_stack, running->stack);
    }
}

void event_loop_start(void)
{
    loops_apart = thread_count >= MANY_THREADS;
    if (!loops_apart || loop_stack)
        return; /* that of an earlier run waits for an event to handle */
    char *bytes = memory_host_stack(LOOP_STACK_BYTES);
    loop_stack = new_stack(bytes + LOOP_STACK_BYTES, loop);
}

static void continue_from(struct event event)
{
    struct thread *self = running;
    if (!loops_apart || event_kind(event) == EVENT_RESUME) {
        struct thread *next = next_thread_from(event);
        running = next;
        if (next != self)
            switch_stack(&self->stack, next->stack);
    } else {
        first_event = event;
        switch_stack(&self->stack, loop_stack);
    }
    if (__builtin_expect(running->doomed, 0))
        event_handlers->roll_back(running);
}

void block(void)
{
    continue_from(event_take());
}

void block_until(struct thread *self, uint64_t time)
{
    continue_from(event_exchange(time, EVENT_RESUME, self->index));
}

void catch_up_with(struct thread *self)
{
    block_until(self, self->now);
}
