/* SPDX-License-Identifier: MIT */
#include "explorer/memory/barriers.h"

#include "explorer/memory/fences.h"
#include "explorer/memory/locations.h"

#include <string.h>

static void raise_to(uint8_t *mine, uint8_t other)
{
    *mine = *mine > other ? *mine : other;
}

void light_barrier_of(struct thread *thread)
{
    for (unsigned c = 0; c < known.cells; c++) {
        raise_to(&thread->view.at[c], thread->delivered[c]);
        thread->delivered[c] = 0;
        thread->at_barrier[c] = thread->view.at[c];
    }
}

/* Returns whether reaching the thread now would change nothing. If so, it is reached at
 * once: every later moment allows fewer executions. */
static bool would_change_nothing(const struct thread *thread)
{
    for (unsigned c = 0; c < known.cells; c++) {
        uint8_t all = model.fenced_at[c];
        if (thread->at_barrier[c] > all ||
            (all > thread->view.at[c] && all > thread->delivered[c]))
            return false;
    }
    return true;
}

static void settle(void)
{
    for (int t = 0; t < THREADS; t++)
        if (model.thread[t].unreached && would_change_nothing(&model.thread[t]))
            model.thread[t].unreached = 0;
}

void barriers_thread_ended(const struct thread *ended)
{
    for (unsigned c = 0; c < known.cells; c++)
        raise_to(&model.thread[FINISHER].at_barrier[c], ended->at_barrier[c]);
}

/* Also reaches the threads that have ended. */
static void publish_ended(void)
{
    for (unsigned c = 0; c < known.cells; c++)
        raise_to(&model.fenced_at[c], model.thread[FINISHER].at_barrier[c]);
}

void heavy_barrier_begin(int caller)
{
    memory_fence(&model.thread[caller]);
    for (int t = 0; t < FINISHER; t++)
        if (t != caller && takes_part(t))
            model.thread[t].unreached |= (uint8_t)(1u << caller);
    settle();
}

void heavy_barrier_reach(int index, int caller)
{
    struct thread *thread = &model.thread[index];
    for (unsigned c = 0; c < known.cells; c++) {
        raise_to(&model.fenced_at[c], thread->at_barrier[c]);
        raise_to(&thread->delivered[c], model.fenced_at[c]);
    }
    thread->unreached &= (uint8_t) ~(1u << caller);
    settle();
}

static unsigned unreached_by(int caller, uint8_t *threads)
{
    unsigned count = 0;
    for (uint8_t t = 0; t < THREADS; t++)
        if (model.thread[t].unreached & 1u << caller)
            threads[count++] = t;
    return count;
}

unsigned heavy_barrier_orders(int caller)
{
    uint8_t threads[THREADS];
    unsigned count = unreached_by(caller, threads), orders = 1;
    for (; count > 1; count--)
        orders *= count;
    return orders;
}

void heavy_barrier_end(int caller, unsigned order)
{
    uint8_t threads[THREADS];
    unsigned count = unreached_by(caller, threads);
    for (; count; count--) {
        unsigned next = order % count;
        order /= count;
        if (model.thread[threads[next]].unreached & 1u << caller)
            heavy_barrier_reach(threads[next], caller);
        threads[next] = threads[count - 1];
    }
    publish_ended();
    memory_fence(&model.thread[caller]);
}

bool barriers_under_way(void)
{
    for (int t = 0; t < THREADS; t++)
        if (model.thread[t].unreached)
            return true;
    return false;
}

bool is_fence(uint8_t operation)
{
    switch (operation) {
    case OP_FENCE:
    case OP_HEAVY:
    case OP_HEAVY_END:
    case OP_PARK:
    case OP_UNPARK:
    case OP_REQUEUE:
        return true;
    default:
        return false;
    }
}

/* Returns whether the next step of the thread depends on when a heavy barrier reaches
 * one. (The end of a barrier reaches the remaining threads itself.) */
static bool depends(int index, uint8_t callers)
{
    uint8_t operation = model.thread[index].request.operation;
    if (operation == OP_LIGHT)
        return model.thread[index].unreached;
    if (operation == OP_HEAVY_END)
        return callers & (uint8_t) ~(1u << index);
    return is_fence(operation);
}

unsigned barriers_choices(struct barrier_choice *into)
{
    unsigned count = 0;
    uint8_t callers = 0;
    bool matters = false;
    for (int t = 0; t < THREADS; t++)
        callers |= model.thread[t].unreached;
    for (int t = 0; t < THREADS && callers; t++)
        matters |= depends(t, callers);
    if (!matters)
        return 0;
    for (uint8_t t = 0; t < THREADS; t++)
        for (uint8_t caller = 0; caller < THREADS; caller++)
            if (model.thread[t].unreached & 1u << caller)
                into[count++] = (struct barrier_choice){t, caller};
    return count;
}

void barriers_canonicalise(void)
{
    for (int t = 0; t < THREADS && known.heavy; t++) {
        struct thread *thread = &model.thread[t];
        for (unsigned c = 0; c < known.cells; c++) {
            if (thread->at_barrier[c] <= model.fenced_at[c])
                thread->at_barrier[c] = 0;
            if (thread->delivered[c] <= thread->view.at[c])
                thread->delivered[c] = 0;
        }
    }
}

void barriers_forget(void)
{
    for (int t = 0; t < THREADS; t++) {
        struct thread *thread = &model.thread[t];
        thread->unreached = 0;
        memset(thread->at_barrier, 0, known.cells);
        memset(thread->delivered, 0, known.cells);
    }
}
