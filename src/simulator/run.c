/* SPDX-License-Identifier: MIT */
#include "simulator/run.h"
#include "platform/simulated/switch.h"
#include "simulator/deadlock.h"
#include "simulator/energy.h"
#include "simulator/event_loop.h"
#include "simulator/memory.h"
#include "simulator/parking.h"
#include "simulator/scheduler.h"
#include "simulator/stores.h"
#include "simulator/transactions.h"
#include "simulator/watching.h"

static char *stacks[THREADS_MAX]; /* reused by later runs */
static void *outside;             /* the stack of threads_run's caller */
static unsigned threads_left;

static struct thread *handle_commit(uint32_t thread, uint64_t time)
{
    store_commits(&thread_table[thread], time);
    return NULL;
}

static struct thread *handle_lost(uint32_t line, uint64_t time)
{
    line_lost(line, time);
    return NULL;
}

static struct thread *handle_poll(uint32_t watch, uint64_t time)
{
    watch_polls(watch, time);
    return NULL;
}

static struct thread *handle_timeout(uint32_t index, uint64_t time)
{
    struct thread *thread = &thread_table[index];
    if (time != thread->timeout_due)
        return NULL; /* superseded by an earlier one */
    thread->timeout_due = UINT64_MAX;
    if (thread->timeout_at > time) {
        set_timeout(thread, thread->timeout_at);
    } else if (thread->state == THREAD_WATCHES) {
        give_up_watching(thread, time);
        check_for_deadlock(time);
    } else if (thread->state == THREAD_PARKED) {
        stop_sleeping(thread, time);
    }
    return NULL;
}

static struct thread *handle_slice(uint32_t cpu, uint64_t time)
{
    scheduler_slice(cpu, time);
    if (scheduler_all_watch()) /* otherwise a thread may be computing */
        check_for_deadlock(time);
    return NULL;
}

static __attribute__((noreturn)) void nothing_left(void)
{
    for (unsigned i = 0; i < thread_count; i++)
        if (thread_table[i].state == THREAD_WATCHES)
            check_watches(&thread_table[i], UINT64_MAX);
    report_deadlock();
}

static const struct event_handlers handlers = {
    .handle = {[EVENT_COMMIT] = handle_commit,
               [EVENT_LOST] = handle_lost,
               [EVENT_POLL] = handle_poll,
               [EVENT_ARRIVED] = line_arrived,
               [EVENT_TIMEOUT] = handle_timeout,
               [EVENT_SLICE] = handle_slice},
    .nothing_left = nothing_left,
    .roll_back = transaction_roll_back,
};

/* The entry function of a thread's stack. */
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
    threads_prepare(count);
    threads_left = count;
    run_started = time_outside;
    event_handlers = &handlers;
    events_start();
    event_loop_start();
    scheduler_start();
    for (unsigned i = 0; i < count; i++)
        start_thread(i, cpus ? cpus[i] : -1, body, argument);
    progress_at = time_outside;
    running = next_thread();
    switch_stack(&outside, running->stack);
    energy_close_run();
}
