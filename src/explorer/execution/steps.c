/* SPDX-License-Identifier: MIT */
#include "explorer/execution/steps.h"

#include "explorer/execution/waiting.h"
#include "explorer/memory/barriers.h"
#include "explorer/memory/fences.h"
#include "explorer/memory/lifetime.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/messages.h"
#include "explorer/memory/reads.h"

#include <string.h>

/* A heavy barrier may reach a thread right before these operations. */
static bool depends_on_barriers(const struct thread *thread,
                                const struct request *request)
{
    if (request->operation == OP_LIGHT)
        return thread->unreached;
    return is_fence(request->operation) && barriers_under_way();
}

bool may_go_on(const struct thread *thread, const struct request *request)
{
    if (thread->transaction)
        return true;
    switch (request->operation) {
    case OP_CHOOSE:
        return thread->phase == PHASE_READING;
    case OP_STORE:
        return !known.every_step;
    case OP_START:
    case OP_RELAX:
    case OP_ASLEEP:
    case OP_WOKEN:
    case OP_HEAVY_END:
        return false;
    default:
        return thread->phase == PHASE_READING && !known.every_step &&
               !depends_on_barriers(thread, request);
    }
}

bool gives_way(const struct thread *thread)
{
    switch (thread->request.operation) {
    case OP_RELAX:
    case OP_ASLEEP:
    case OP_HEAVY_END:
    case OP_DONE:
    case OP_NONE:
    case OP_START:
        return true;
    default:
        return false;
    }
}

static bool is_next(const struct thread *thread)
{
    for (int t = 0; t < THREADS; t++)
        if (thread->before & 1u << t && model.thread[t].request.operation == OP_START)
            return false;
    return true;
}

unsigned choices_of(int index, uint16_t *choices)
{
    const struct thread *thread = &model.thread[index];
    const struct request *request = &thread->request;
    unsigned found = 0;
    switch (request->operation) {
    case OP_NONE:
    case OP_DONE:
        return 0;
    case OP_START:
        choices[0] = 0;
        return (!thread->in_child || model.generation) && is_next(thread);
    case OP_LOAD:
        return load_choices(thread, request->cell, choices);
    case OP_STORE:
        return store_choices(thread, request->cell, choices);
    case OP_CHANGE:
    case OP_COMPARE:
        return change_choices(thread, request, choices);
    case OP_RELAX:
        return relax_choices(thread, choices);
    case OP_DEADLINE:
    case OP_CHOOSE:
        for (; found < request->operand; found++)
            choices[found] = (uint16_t)found;
        return found;
    case OP_PARK:
        return parking_choices(thread, request->cell, choices);
    case OP_ASLEEP:
        return sleep_choices(thread, choices);
    case OP_UNPARK:
        return unpark_choices(request, choices);
    case OP_REQUEUE:
        return requeue_choices(thread, choices);
    case OP_HEAVY_END:
        for (; found < heavy_barrier_orders(index); found++)
            choices[found] = (uint16_t)found;
        return found;
    default:
        choices[0] = 0;
        return 1;
    }
}

static const void *address_of(uint16_t cell)
{
    return cell < known.cells ? location_of_index(cell)->address : NULL;
}

static struct counterexample_step step_of(int index)
{
    const struct request *request = &model.thread[index].request;
    return (struct counterexample_step){.thread = index,
                                        .operation = request->operation,
                                        .order = request->order,
                                        .change = request->change,
                                        .address = address_of(request->cell),
                                        .other = address_of(request->other),
                                        .function = request->function};
}

static void perform_change(struct thread *thread, uint16_t choice,
                           struct counterexample_step *step)
{
    const struct request *request = &thread->request;
    const struct location *location = location_of_index(request->cell);
    uint64_t before = message_of(request->cell, choice)->value;
    step->before = step->after = before;
    step->stale = choice + 1u < message_count(request->cell);
    if (request->operation == OP_COMPARE && before != request->expected) {
        memory_load(thread, request->cell, choice, CHECKED_RELAXED);
        note_read(thread, location, before);
        result = before;
        return;
    }
    expect_in_use(step->address, true);
    step->succeeded = true;
    step->after = changed_value(request, location->size, before);
    memory_change(thread, request->cell, choice, step->after, request->order);
    note_read(thread, location, step->after);
    thread->phase = PHASE_WRITING;
    result = before;
}

/* In the child only the caller exists, and the threads that start there. */
static bool perform_fork(int index)
{
    for (int t = 0; t < FINISHER; t++)
        if (model.thread[index].request.operand & 1u << t && !model.thread[t].watched)
            return false;
    memory_fork();
    barriers_forget();
    model.generation++;
    for (int t = 0; t < FINISHER; t++)
        if (t != index && !model.thread[t].in_child && is_live(t)) {
            memset(&model.thread[t], 0, sizeof model.thread[t]);
            model.thread[t].request.operation = OP_DONE;
        }
    return true;
}

static bool only_reads(const struct request *request, uint16_t choice)
{
    switch (request->operation) {
    case OP_LOAD:
        return true;
    case OP_COMPARE:
        return message_of(request->cell, choice)->value != request->expected;
    case OP_DEADLINE:
        return !choice;
    default:
        return false;
    }
}

static void perform_load(struct thread *thread, uint16_t choice,
                         struct counterexample_step *step)
{
    const struct request *request = &thread->request;
    expect_in_use(step->address, false);
    step->stale = choice + 1u < message_count(request->cell);
    result = memory_load(thread, request->cell, choice, request->order);
    step->before = result;
    note_read(thread, location_of_index(request->cell), result);
}

static void perform_store(struct thread *thread, uint16_t choice,
                          struct counterexample_step *step)
{
    const struct request *request = &thread->request;
    expect_in_use(step->address, true);
    step->after = request->operand;
    step->stale = choice < message_count(request->cell);
    memory_store(thread, request->cell, choice, request->operand, request->order);
    thread->phase = PHASE_WRITING;
}

static void perform_deadline(struct thread *thread, uint16_t choice,
                             struct counterexample_step *step)
{
    result = step->succeeded = choice;
    if (choice)
        thread->expired = 1;
    else
        thread->read_deadline = 1;
}

/* Performs operations on cells and fences; returns false for all others. */
static bool perform_on_memory(struct thread *thread, uint16_t choice,
                              struct counterexample_step *step)
{
    switch (thread->request.operation) {
    case OP_LOAD:
        perform_load(thread, choice, step);
        return true;
    case OP_STORE:
        perform_store(thread, choice, step);
        return true;
    case OP_CHANGE:
    case OP_COMPARE:
        perform_change(thread, choice, step);
        return true;
    case OP_FENCE:
        memory_fence(thread);
        thread->phase = PHASE_WRITING;
        return true;
    case OP_LIGHT:
        light_barrier_of(thread);
        thread->phase = PHASE_WRITING;
        return true;
    default:
        return false;
    }
}

/* Performs operations that wait, wake, choose or take several steps; returns false if
 * the thread does not continue yet. */
static bool perform_other(int index, uint16_t choice, struct counterexample_step *step)
{
    struct thread *thread = &model.thread[index];
    switch (thread->request.operation) {
    case OP_HEAVY:
        heavy_barrier_begin(index);
        thread->request.operation = OP_HEAVY_END;
        return false;
    case OP_HEAVY_END:
        heavy_barrier_end(index, choice);
        thread->phase = PHASE_WRITING;
        result = true;
        return true;
    case OP_RELAX:
        perform_relax(index, choice);
        return true;
    case OP_DEADLINE:
        perform_deadline(thread, choice, step);
        return true;
    case OP_CHOOSE:
        result = choice;
        return true;
    case OP_PARK:
        return perform_park(thread, choice, step);
    case OP_ASLEEP:
        perform_wakeup(thread, choice, step);
        return true;
    case OP_WOKEN:
        result = true;
        return true;
    case OP_FORK:
        result = step->succeeded = perform_fork(index);
        return true;
    case OP_UNPARK:
        perform_unpark(thread, choice, step);
        thread->phase = PHASE_WRITING;
        return true;
    case OP_REQUEUE:
        perform_requeue(thread, choice, step);
        thread->phase = PHASE_WRITING;
        return true;
    default:
        return true;
    }
}

bool perform(int index, uint16_t choice)
{
    struct thread *thread = &model.thread[index];
    struct counterexample_step step = step_of(index);
    result = 0;
    if (!only_reads(&thread->request, choice))
        thread->iteration.idle = 0;
    bool goes_on =
        perform_on_memory(thread, choice, &step) || perform_other(index, choice, &step);
    thread->iteration.stale |= step.stale;
    counterexample_add(&step);
    return goes_on;
}
