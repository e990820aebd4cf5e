/* SPDX-License-Identifier: MIT */
/*
 * What the next operation of a thread may do, and doing it.
 *
 * Not every operation is a scheduling point. Between two of them a thread reads, then
 * does one thing that others can tell when it happened, then writes (R. Lipton,
 * "Reduction: a method of proving properties of parallel programs", CACM 1975). Here
 * every plain load is a right mover, because an old message stays readable for whoever
 * has not seen a newer one; and every plain store a left mover, because nobody has to
 * see a message and others may still put theirs before it.
 */
#include "explorer/waiting.h"

#include <string.h>

uint64_t result;

bool may_go_on(const struct thread *thread, const struct request *request)
{
    switch (request->operation) {
    case OP_CHOOSE:
        return thread->phase == PHASE_READING;
    case OP_STORE:
        return !known.heavy;
    case OP_START:
    case OP_RELAX:
    case OP_ASLEEP:
    case OP_WOKEN:
        return false;
    default:
        return thread->phase == PHASE_READING && !known.heavy;
    }
}

/* The thread said itself that it waits: running another one is no preemption. */
bool gives_way(const struct thread *thread)
{
    switch (thread->request.operation) {
    case OP_RELAX:
    case OP_ASLEEP:
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
        if (request->deadline == CHECKED_ANY_TIME)
            choices[found++] = WAKE_TIMEOUT;
        if (thread->naps)
            choices[found++] = WAKE_SPURIOUS;
        return found;
    case OP_UNPARK:
        return unpark_choices(request, choices);
    case OP_REQUEUE:
        return requeue_choices(thread, choices);
    default:
        choices[0] = 0;
        return 1;
    }
}

void note_read(struct thread *thread, const struct place *place, uint64_t value)
{
    uint32_t index = (uint32_t)(place - known.place);
    for (unsigned i = 0; i < thread->reads; i++)
        if (thread->read[i].place == index) {
            thread->read[i] = (struct read){index, false, value};
            return;
        }
    if (thread->reads == READS) { /* the oldest is in no loop of so few reads */
        for (unsigned i = 1; i < READS; i++)
            thread->read[i - 1] = thread->read[i];
        thread->reads--;
    }
    thread->read[thread->reads++] = (struct read){index, false, value};
}

static const void *address_of(uint16_t cell)
{
    return cell < known.cells ? place_of_index(cell)->address : NULL;
}

static struct trail_step step_of(int index)
{
    const struct request *request = &model.thread[index].request;
    return (struct trail_step){.thread = index,
                               .operation = request->operation,
                               .order = request->order,
                               .change = request->change,
                               .address = address_of(request->cell),
                               .other = address_of(request->other),
                               .function = request->function};
}

uint64_t changed_value(const struct request *request, unsigned size, uint64_t before)
{
    uint64_t after = request->operation == OP_COMPARE      ? request->operand
                     : request->change == CHECKED_EXCHANGE ? request->operand
                     : request->change == CHECKED_ADD      ? before + request->operand
                     : request->change == CHECKED_OR       ? before | request->operand
                                                           : before & request->operand;
    return size == 8 ? after : after & ((UINT64_C(1) << 8 * size) - 1);
}

static void perform_change(struct thread *thread, uint16_t choice,
                           struct trail_step *step)
{
    const struct request *request = &thread->request;
    const struct place *place = place_of_index(request->cell);
    uint64_t before = message_of(request->cell, choice)->value;
    step->before = step->after = before;
    step->stale = choice + 1u < message_count(request->cell);
    if (request->operation == OP_COMPARE && before != request->expected) {
        memory_load(thread, request->cell, choice, CHECKED_RELAXED);
        note_read(thread, place, before);
        result = before;
        return;
    }
    expect_in_use(step->address, true);
    step->succeeded = true;
    step->after = changed_value(request, place->size, before);
    memory_change(thread, request->cell, choice, step->after, request->order);
    note_read(thread, place, step->after);
    thread->phase = PHASE_WRITING;
    result = before;
}

/* Only the caller goes on in the child, and those that begin there. */
static bool perform_fork(int index)
{
    for (int t = 0; t < FINISHER; t++)
        if (model.thread[index].request.operand & 1u << t && !model.thread[t].watched)
            return false;
    memory_fork();
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

bool perform(int index, uint16_t choice)
{
    struct thread *thread = &model.thread[index];
    struct request *request = &thread->request;
    struct trail_step step = step_of(index);
    bool goes_on = true;
    result = 0;
    if (!only_reads(request, choice))
        thread->turn.idle = 0;
    switch (request->operation) {
    case OP_LOAD:
        expect_in_use(step.address, false);
        step.stale = choice + 1u < message_count(request->cell);
        result = memory_load(thread, request->cell, choice, request->order);
        step.before = result;
        note_read(thread, place_of_index(request->cell), result);
        break;
    case OP_STORE:
        expect_in_use(step.address, true);
        step.after = request->operand;
        step.stale = choice < message_count(request->cell);
        memory_store(thread, request->cell, choice, request->operand, request->order);
        thread->phase = PHASE_WRITING;
        break;
    case OP_CHANGE:
    case OP_COMPARE:
        perform_change(thread, choice, &step);
        break;
    case OP_FENCE:
        memory_fence(thread);
        thread->phase = PHASE_WRITING;
        break;
    case OP_HEAVY:
        /* Twice: what each thread has written by then, all have seen. The finisher
         * has seen what the ended threads wrote. */
        memory_order_parking(&model.thread[FINISHER]);
        for (int round = 0; round < 2; round++)
            for (int t = 0; t < THREADS; t++)
                if (is_live(t))
                    memory_fence(&model.thread[t]);
        break;
    case OP_RELAX:
        perform_relax(index, choice);
        break;
    case OP_DEADLINE:
        result = step.succeeded = choice;
        if (choice)
            thread->struck = 1;
        else
            thread->read_deadline = 1;
        break;
    case OP_CHOOSE:
        result = choice;
        break;
    case OP_PARK:
        goes_on = perform_park(thread, choice, &step);
        break;
    case OP_ASLEEP:
        result = choice != WAKE_TIMEOUT;
        thread->naps = (uint8_t)(thread->naps - (choice == WAKE_SPURIOUS));
        thread->struck |= choice == WAKE_TIMEOUT;
        step.succeeded = choice == WAKE_TIMEOUT;
        break;
    case OP_WOKEN:
        result = true;
        break;
    case OP_FORK:
        result = step.succeeded = perform_fork(index);
        break;
    case OP_UNPARK:
        perform_unpark(thread, choice, &step);
        thread->phase = PHASE_WRITING;
        break;
    case OP_REQUEUE:
        perform_requeue(thread, choice, &step);
        thread->phase = PHASE_WRITING;
        break;
    default:
        break;
    }
    thread->turn.stale |= step.stale;
    trail_add(&step);
    return goes_on;
}
