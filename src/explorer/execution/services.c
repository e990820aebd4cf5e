/* SPDX-License-Identifier: MIT */
#include "explorer/execution/services.h"

#include "explorer/base/model.h"
#include "explorer/base/verdict.h"
#include "explorer/execution/run.h"
#include "explorer/execution/steps.h"
#include "explorer/memory/views.h"

void expect(bool condition, const char *text)
{
    if (!condition)
        fail("assertion", "%s", text);
}

/* The kernel ends a thread after everything that the thread did. */
static struct atomic_u32 gone[THREADS];

void thread_dies(void)
{
    store_release(&gone[model.running], 1);
}

bool checked_thread_gone(uint32_t thread)
{
    return thread && load_acquire(&gone[thread - 1]);
}

bool checked_threads_can_die(void)
{
    return run.client->dies;
}

void begin_operation(void)
{
    struct thread *self = &model.thread[model.running];
    self->iteration.steps = self->iteration.writes = 0;
    self->reads = self->spins = self->read_clock = self->read_deadline = 0;
}

const struct deadline *new_deadline(void)
{
    static const struct deadline some_time = {CLOCK_MONOTONIC, {1000000000, 0}};
    model.thread[model.running].expired = 0;
    return &some_time;
}

void move_to_node(unsigned node)
{
    model.thread[model.running].node = (uint8_t)node;
}

void watch_waiters(void)
{
    for (int t = 0; t < FINISHER; t++) {
        uint8_t operation = model.thread[t].request.operation;
        model.thread[t].watched = operation == OP_RELAX || operation == OP_ASLEEP;
    }
}

bool sees_waiting(unsigned thread)
{
    uint16_t choices[CHOICES];
    watch_waiters();
    const struct thread *waiting = &model.thread[thread];
    bool goes_on =
        waiting->request.operation == OP_RELAX && choices_of((int)thread, choices) != 0;
    if (!waiting->watched || goes_on)
        return false;
    view_join(&model.thread[model.running].view, &waiting->view);
    return true;
}

bool has_not_moved(unsigned thread)
{
    return model.thread[thread].watched;
}
