/* SPDX-License-Identifier: MIT */
#include "simulator/threads.h"
#include "platform/simulated/switch.h"
#include "simulator/deadlock.h"
#include "simulator/energy.h"
#include "simulator/lines.h"
#include "simulator/parking.h"
#include "simulator/scheduler.h"
#include "simulator/stores.h"
#include "simulator/transactions.h"
#include "simulator/watching.h"

struct thread *running;
struct thread thread_table[THREADS_MAX];
unsigned thread_count;
uint64_t time_outside = 1000000; /* not 0: locks may take that for "never" */
uint64_t run_started;

static char *stacks[THREADS_MAX]; /* a thread gets its predecessor's */
static void *outside;             /* the stack of threads_run's caller */
static unsigned threads_left;

static void timeout(struct thread *thread, uint64_t time)
{
    if (time != thread->timeout_due)
        return; /* there was an earlier one */
    thread->timeout_due = UINT64_MAX;
    if (thread->timeout_at > time) {
        set_timeout(thread, thread->timeout_at);
    } else if (thread->state == THREAD_WATCHES) {
        give_up_watching(thread, time);
        look_for_deadlock(time);
    } else if (thread->state == THREAD_PARKED) {
        stop_sleeping(thread, time);
    }
}

void set_timeout(struct thread *thread, uint64_t time)
{
    thread->timeout_at = time;
    if (time < thread->timeout_due) {
        thread->timeout_due = time;
        event_push(time, EVENT_TIMEOUT, thread->index);
    }
}

/* Lets an event happen; the thread that is to go on, or NULL. */
static struct thread *happen(struct event event)
{
    const uint32_t subject = event_subject(event);
    if (event.time == UINT64_MAX)
        report_deadlock();
    switch (event_kind(event)) {
    case EVENT_RESUME:
        return &thread_table[subject];
    case EVENT_ARRIVED:
        return line_arrived(subject, event.time);
    case EVENT_COMMIT:
        store_commits(&thread_table[subject], event.time);
        break;
    case EVENT_LOST:
        line_lost(subject, event.time);
        break;
    case EVENT_TURN:
        watch_turn(subject, event.time);
        break;
    case EVENT_TIMEOUT:
        timeout(&thread_table[subject], event.time);
        break;
    case EVENT_SLICE:
        scheduler_slice(subject, event.time);
        if (scheduler_all_watch()) /* whoever runs may be computing */
            look_for_deadlock(event.time);
        break;
    }
    return NULL;
}

/* Lets events happen, `event` first, until a thread is to go on: that one. */
static struct thread *next_thread(struct event event)
{
    struct thread *next;
    while (!(next = happen(event)) || !scheduler_resumes(next, event.time))
        event = event_take();
    next->now = event.time;
    return next;
}

static void go_on_with(struct thread *next)
{
    struct thread *self = running;
    running = next;
    if (next != self)
        switch_stack(&self->stack, next->stack);
    if (__builtin_expect(running->doomed, 0))
        transaction_roll_back(running);
}

void block(void)
{
    go_on_with(next_thread(event_take()));
}

void block_until(struct thread *self, uint64_t time)
{
    go_on_with(next_thread(event_exchange(time, EVENT_RESUME, self->index)));
}

void catch_up_with(struct thread *self)
{
    block_until(self, self->now);
}

/* Where threads start, and end. */
static void thread_main(void)
{
    struct thread *self = running;
    self->body(self->index, self->argument);
    catch_up(self);
    drain(self);
    self->state = THREAD_ENDED;
    time_outside = later(time_outside, self->now);
    scheduler_sleeps(self, self->now);
    if (--threads_left)
        block();
    running = NULL;
    switch_stack(&self->stack, outside);
}

static void start_thread(unsigned index, int cpu,
                         void (*body)(unsigned index, void *argument), void *argument)
{
    struct thread *thread = &thread_table[index];
    if (!stacks[index])
        stacks[index] = memory_stack(STACK_BYTES);
    *thread = (struct thread){.now = time_outside,
                              .started = time_outside,
                              .index = (uint16_t)index,
                              .stack_end = stacks[index] + STACK_BYTES,
                              .timeout_at = UINT64_MAX,
                              .timeout_due = UINT64_MAX,
                              .body = body,
                              .argument = argument};
    thread->stack = new_stack(thread->stack_end, thread_main);
    scheduler_place(thread, cpu, time_outside);
}

void threads_run(unsigned count, const int *cpus,
                 void (*body)(unsigned index, void *argument), void *argument)
{
    thread_count = threads_left = count;
    run_started = time_outside;
    events_start();
    scheduler_start();
    for (unsigned i = 0; i < count; i++)
        start_thread(i, cpus ? cpus[i] : -1, body, argument);
    progress_at = time_outside;
    running = next_thread(event_take());
    switch_stack(&outside, running->stack);
    energy_close_run();
}
