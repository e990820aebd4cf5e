/* SPDX-License-Identifier: MIT */
#include "explorer/execution/waiting.h"

#include "explorer/base/coroutine.h"
#include "explorer/memory/fences.h"
#include "explorer/memory/messages.h"
#include "explorer/memory/reads.h"

enum { CLOCK_JUMPS = 2 };

/* Returns true if the thread could read another value from a cell that it has read
 * since its last relax(). */
static bool changed_since_read(const struct thread *thread)
{
    for (unsigned i = 0; i < thread->reads; i++)
        if (is_stale(thread, &thread->read[i]))
            return true;
    return false;
}

unsigned relax_choices(const struct thread *thread, uint16_t *choices)
{
    unsigned found = 0;
    if (changed_since_read(thread))
        choices[found++] = PASS_CHANGED;
    else if (thread->spins)
        choices[found++] = PASS_SPIN;
    if (thread->read_deadline && !thread->expired)
        choices[found++] = PASS_DEADLINE;
    if (thread->read_clock && model.clock < CLOCK_JUMPS)
        choices[found++] = PASS_CLOCK;
    return found;
}

void perform_relax(int index, uint16_t choice)
{
    struct thread *thread = &model.thread[index];
    thread->iteration = (struct iteration){.idle = choice == PASS_CHANGED,
                                           .began = coroutine_digest(index)};
    if (choice == PASS_CHANGED)
        model.forced_exits = 0; /* a loop has ended, so the run makes progress */
    if (choice == PASS_SPIN)
        thread->spins--;
    if (choice == PASS_DEADLINE)
        thread->expired = 1;
    if (choice == PASS_CLOCK || (choice == PASS_FORCED && thread->read_clock))
        model.clock++;
    thread->reads = thread->read_clock = thread->read_deadline = 0;
}

/* Returns whether the thread sleeps on the place that the request names. */
static bool sleeps_on(int thread, const struct request *place)
{
    const struct request *request = &model.thread[thread].request;
    return request->operation == OP_ASLEEP && request->cell == place->cell &&
           request->half == place->half;
}

static unsigned sleepers_on(const struct request *place)
{
    unsigned found = 0;
    for (int t = 0; t < THREADS; t++)
        found += sleeps_on(t, place);
    return found;
}

/* Futex system calls are fully ordered among themselves: the kernel reads the cell
 * after every write that was fenced. */
unsigned parking_choices(const struct thread *thread, uint16_t cell, uint16_t *choices)
{
    unsigned found = 0, from = thread->view.at[cell];
    if (model.fenced_at[cell] > from)
        from = model.fenced_at[cell];
    for (unsigned i = message_count(cell); i-- > from;)
        choices[found++] = (uint16_t)i;
    return found;
}

unsigned sleep_choices(const struct thread *thread, uint16_t *choices)
{
    unsigned found = 0;
    if (thread->request.deadline == CHECKED_ANY_TIME)
        choices[found++] = WAKE_TIMEOUT;
    if (thread->spurious_wakeups)
        choices[found++] = WAKE_SPURIOUS;
    return found;
}

unsigned unpark_choices(const struct request *request, uint16_t *choices)
{
    unsigned found = 0;
    if (request->operand < sleepers_on(request))
        for (uint16_t t = 0; t < THREADS; t++)
            if (sleeps_on(t, request))
                choices[found++] = t;
    if (!found)
        choices[found++] = 0;
    return found;
}

unsigned requeue_choices(const struct thread *thread, uint16_t *choices)
{
    uint16_t seen[MESSAGES];
    unsigned values = parking_choices(thread, thread->request.cell, seen), found = 0;
    bool nobody = !sleepers_on(&thread->request);
    for (unsigned i = 0; i < values; i++)
        for (unsigned t = 0; t < THREADS; t++)
            if ((nobody && t == 0) || sleeps_on((int)t, &thread->request))
                choices[found++] = (uint16_t)(seen[i] | t << 8);
    return found;
}

bool perform_park(struct thread *thread, uint16_t choice,
                  struct counterexample_step *step)
{
    struct request *request = &thread->request;
    memory_order_parking(thread);
    thread->phase = PHASE_WRITING;
    thread->iteration.steps = thread->iteration.writes = 0;
    uint64_t seen = memory_load(thread, request->cell, choice, CHECKED_RELAXED);
    if (request->half != HALF_NONE)
        seen = (uint32_t)(request->half == HALF_LOW ? seen : seen >> 32);
    step->before = seen;
    result = true;
    if (seen != request->expected)
        return true;
    if (request->deadline == CHECKED_LONG_AGO ||
        (request->deadline == CHECKED_ANY_TIME && thread->expired)) {
        result = false;
        return true;
    }
    step->succeeded = true;
    request->operation = OP_ASLEEP;
    return false;
}

void perform_wakeup(struct thread *thread, uint16_t choice,
                    struct counterexample_step *step)
{
    bool timeout = choice == WAKE_TIMEOUT;
    result = !timeout;
    step->succeeded = timeout;
    if (timeout)
        thread->expired = 1;
    else
        thread->spurious_wakeups--;
}

static void wake(int index)
{
    model.thread[index].request.operation = OP_WOKEN;
}

void perform_unpark(struct thread *thread, uint16_t choice,
                    struct counterexample_step *step)
{
    const struct request *request = &thread->request;
    memory_order_parking(thread);
    uint64_t left = request->operand;
    for (int i = 0; i < THREADS && left; i++) {
        int sleeper = (choice + i) % THREADS;
        if (sleeps_on(sleeper, request)) {
            wake(sleeper);
            step->threads |= 1u << sleeper;
            left--;
        }
    }
}

void perform_requeue(struct thread *thread, uint16_t choice,
                     struct counterexample_step *step)
{
    const struct request *request = &thread->request;
    memory_order_parking(thread);
    int sleeper = choice >> 8;
    uint64_t seen = memory_load(thread, request->cell, choice & 0xff, CHECKED_RELAXED);
    step->before = seen;
    if (seen == request->expected && sleeps_on(sleeper, request)) {
        model.thread[sleeper].request.cell = request->other;
        step->threads = 1u << sleeper;
        step->succeeded = true;
    }
}
