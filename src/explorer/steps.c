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
#include "explorer/model.h"
#include "explorer/trail.h"

#include <string.h>

enum { WAKE_NOW, WAKE_TIMEOUT, WAKE_SPURIOUS };
enum { CLOCK_LEAPS = 2 };

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

static unsigned relax_choices(const struct thread *thread, uint16_t *choices)
{
    unsigned found = 0;
    if (changed_since_read(thread))
        choices[found++] = PASS_CHANGED;
    else if (thread->spins)
        choices[found++] = PASS_SPIN;
    if (thread->read_deadline && !thread->struck)
        choices[found++] = PASS_DEADLINE;
    if (thread->read_clock && model.clock < CLOCK_LEAPS)
        choices[found++] = PASS_CLOCK;
    return found;
}

static bool sleeps_on(int thread, uint16_t cell)
{
    const struct request *request = &model.thread[thread].request;
    return request->operation == OP_ASLEEP && request->cell == cell;
}

static unsigned sleepers_on(uint16_t cell)
{
    unsigned found = 0;
    for (int t = 0; t < THREADS; t++)
        found += sleeps_on(t, cell);
    return found;
}

/* The futex system calls are fully ordered among themselves: the look at the cell comes
 * after every write that was fenced. */
static unsigned parking_choices(const struct thread *thread, uint16_t cell,
                                uint16_t *choices)
{
    unsigned found = 0, from = thread->view.at[cell];
    if (model.fenced_at[cell] > from)
        from = model.fenced_at[cell];
    for (unsigned i = message_count(cell); i-- > from;)
        choices[found++] = (uint16_t)i;
    return found;
}

static unsigned unpark_choices(const struct request *request, uint16_t *choices)
{
    unsigned found = 0;
    if (request->operand < sleepers_on(request->cell))
        for (uint16_t t = 0; t < THREADS; t++)
            if (sleeps_on(t, request->cell))
                choices[found++] = t;
    if (!found)
        choices[found++] = 0;
    return found;
}

static unsigned requeue_choices(const struct thread *thread, uint16_t *choices)
{
    uint16_t seen[MESSAGES];
    unsigned values = parking_choices(thread, thread->request.cell, seen), found = 0;
    bool nobody = !sleepers_on(thread->request.cell);
    for (unsigned i = 0; i < values; i++)
        for (unsigned t = 0; t < THREADS; t++)
            if ((nobody && t == 0) || sleeps_on((int)t, thread->request.cell))
                choices[found++] = (uint16_t)(seen[i] | t << 8);
    return found;
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
        return !thread->in_child || model.generation;
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

static void note_read(struct thread *thread, uint16_t cell, uint64_t value)
{
    for (unsigned i = 0; i < thread->reads; i++)
        if (thread->read[i].cell == cell) {
            thread->read[i].value = value;
            return;
        }
    if (thread->reads == READS) { /* the oldest is in no loop of so few reads */
        for (unsigned i = 1; i < READS; i++)
            thread->read[i - 1] = thread->read[i];
        thread->reads--;
    }
    thread->read[thread->reads++] = (struct read){cell, value};
}

static struct trail_step step_of(int index)
{
    const struct request *request = &model.thread[index].request;
    return (struct trail_step){.thread = index,
                               .operation = request->operation,
                               .order = request->order,
                               .change = request->change,
                               .address = known.cell[request->cell].address,
                               .other = known.cell[request->other].address,
                               .function = request->function};
}

static uint64_t changed_value(const struct request *request, uint64_t before)
{
    uint64_t after = request->operation == OP_COMPARE      ? request->operand
                     : request->change == CHECKED_EXCHANGE ? request->operand
                     : request->change == CHECKED_ADD      ? before + request->operand
                     : request->change == CHECKED_OR       ? before | request->operand
                                                           : before & request->operand;
    unsigned bits = 8 * known.cell[request->cell].size;
    return bits == 64 ? after : after & ((UINT64_C(1) << bits) - 1);
}

static void perform_change(struct thread *thread, uint16_t choice,
                           struct trail_step *step)
{
    const struct request *request = &thread->request;
    uint64_t before = message_of(request->cell, choice)->value;
    step->before = step->after = before;
    step->stale = choice + 1u < message_count(request->cell);
    if (request->operation == OP_COMPARE && before != request->expected) {
        memory_load(thread, request->cell, choice, CHECKED_RELAXED);
        note_read(thread, request->cell, before);
        result = before;
        return;
    }
    expect_in_use(step->address, true);
    step->succeeded = true;
    step->after = changed_value(request, before);
    memory_change(thread, request->cell, choice, step->after, request->order);
    note_read(thread, request->cell, step->after);
    thread->phase = PHASE_WRITING;
    result = before;
}

static bool perform_park(struct thread *thread, uint16_t choice,
                         struct trail_step *step)
{
    struct request *request = &thread->request;
    memory_order_parking(thread);
    thread->phase = PHASE_WRITING;
    uint64_t seen = memory_load(thread, request->cell, choice, CHECKED_RELAXED);
    step->before = seen;
    result = true;
    if (seen != request->expected)
        return true;
    if (request->deadline == CHECKED_LONG_AGO ||
        (request->deadline == CHECKED_ANY_TIME && thread->struck)) {
        result = false;
        return true;
    }
    step->succeeded = true;
    request->operation = OP_ASLEEP;
    return false;
}

static void wake(int index)
{
    model.thread[index].request.operation = OP_WOKEN;
}

static void perform_unpark(struct thread *thread, uint16_t choice,
                           struct trail_step *step)
{
    const struct request *request = &thread->request;
    memory_order_parking(thread);
    uint64_t left = request->operand;
    for (int i = 0; i < THREADS && left; i++) {
        int sleeper = (choice + i) % THREADS;
        if (sleeps_on(sleeper, request->cell)) {
            wake(sleeper);
            step->count |= 1u << sleeper;
            left--;
        }
    }
}

static void perform_requeue(struct thread *thread, uint16_t choice,
                            struct trail_step *step)
{
    const struct request *request = &thread->request;
    memory_order_parking(thread);
    int sleeper = choice >> 8;
    uint64_t seen = memory_load(thread, request->cell, choice & 0xff, CHECKED_RELAXED);
    step->before = seen;
    if (seen == request->expected && sleeps_on(sleeper, request->cell)) {
        model.thread[sleeper].request.cell = request->other;
        step->count = 1u << sleeper;
        step->succeeded = true;
    }
}

/* Only the caller goes on in the child, and those that begin there. */
static void perform_fork(int index)
{
    memory_fork();
    model.generation++;
    for (int t = 0; t < FINISHER; t++)
        if (t != index && !model.thread[t].in_child && is_live(t)) {
            memset(&model.thread[t], 0, sizeof model.thread[t]);
            model.thread[t].request.operation = OP_DONE;
        }
}

static void perform_relax(struct thread *thread, uint16_t choice)
{
    if (choice == PASS_CHANGED)
        model.kicks = 0; /* what they were for has come */
    if (choice == PASS_SPIN)
        thread->spins--;
    if (choice == PASS_DEADLINE)
        thread->struck = 1;
    if (choice == PASS_CLOCK || (choice == PASS_KICK && thread->read_clock))
        model.clock++;
    thread->reads = thread->read_clock = thread->read_deadline = 0;
}

bool perform(int index, uint16_t choice)
{
    struct thread *thread = &model.thread[index];
    struct request *request = &thread->request;
    struct trail_step step = step_of(index);
    bool goes_on = true;
    result = 0;
    switch (request->operation) {
    case OP_LOAD:
        expect_in_use(step.address, false);
        step.stale = choice + 1u < message_count(request->cell);
        result = memory_load(thread, request->cell, choice, request->order);
        step.before = result;
        note_read(thread, request->cell, result);
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
        perform_relax(thread, choice);
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
        perform_fork(index);
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
    trail_add(&step);
    return goes_on;
}
