/* SPDX-License-Identifier: MIT */
/*
 * Task queues, each under a lock. A worker takes a task from its own queue, or steals
 * one if that is empty, does the work, and adds a task to its own queue. With one queue
 * the lock is contended; with a queue for each worker it is free except for stealing.
 * The number of tasks is constant, so the work never runs out.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

struct task_queue {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    /* Guarded by the lock. */
    struct ledger ledger __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 waiting; /* number of tasks, which are contiguous */
    struct atomic_u64 tasks[];
};

static uint64_t queues(const struct run *run)
{
    return run->knobs[KNOB_QUEUES] ? run->knobs[KNOB_QUEUES] : run->threads;
}

static uint64_t all_tasks(const struct run *run)
{
    return run->knobs[KNOB_TASKS] * run->threads;
}

/* Each queue has space for all tasks. */
static struct task_queue *queue_at(const struct run *run, uint64_t index)
{
    size_t bytes =
        sizeof(struct task_queue) + all_tasks(run) * sizeof(struct atomic_u64);
    bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return (struct task_queue *)((char *)run->shared + index * bytes);
}

/* A task is a random number that is derived from the seed. */
static uint64_t task_number(const struct run *run, uint64_t index)
{
    uint64_t state = run->seed + index;
    return random_next(&state);
}

bool task_queue_prepare(struct run *run)
{
    size_t bytes = (size_t)((char *)queue_at(run, queues(run)) - (char *)run->shared);
    run->shared = run_memory(run, bytes);
    if (!run->shared)
        return false;
    for (uint64_t i = 0; i < queues(run); i++)
        mutex_create(&queue_at(run, i)->mutex);
    for (uint64_t i = 0; i < all_tasks(run); i++) {
        struct task_queue *queue = queue_at(run, i % queues(run));
        uint64_t place = load_relaxed(&queue->waiting);
        store_relaxed(&queue->tasks[place], task_number(run, i));
        store_relaxed(&queue->waiting, place + 1);
    }
    return true;
}

static void acquire(struct run *run, struct worker *worker, struct task_queue *queue)
{
    uint64_t wanted = ticks();
    mutex_lock(run, &queue->mutex);
    ledger_acquired(&queue->ledger, run, worker, wanted, ticks());
}

static void release(struct run *run, struct task_queue *queue)
{
    queue->ledger.released = ticks();
    mutex_unlock(run, &queue->mutex);
}

static bool take(struct run *run, struct worker *worker, struct task_queue *queue,
                 uint64_t *task)
{
    acquire(run, worker, queue);
    uint64_t waiting = load_relaxed(&queue->waiting);
    if (waiting) {
        *task = load_relaxed(&queue->tasks[waiting - 1]);
        store_relaxed(&queue->waiting, waiting - 1);
    }
    release(run, queue);
    return waiting != 0;
}

static void put(struct run *run, struct worker *worker, struct task_queue *queue,
                uint64_t task)
{
    acquire(run, worker, queue);
    uint64_t waiting = load_relaxed(&queue->waiting);
    if (waiting <
        all_tasks(run)) { /* else there is no mutual exclusion; the check fails */
        store_relaxed(&queue->tasks[waiting], task);
        store_relaxed(&queue->waiting, waiting + 1);
    }
    release(run, queue);
}

/* Tries the worker's own queue, then the others in turn until the end of the run. There
 * are at least as many tasks as workers, so a task will turn up. */
static bool take_or_steal(struct run *run, struct worker *worker, uint64_t *task)
{
    const uint64_t count = queues(run);
    uint64_t place = worker->index % count;
    while (!take(run, worker, queue_at(run, place), task)) {
        place = (place + 1) % count;
        if (!run_goes_on(run, ticks()))
            return false;
    }
    return true;
}

void task_queue_work(struct run *run, struct worker *worker)
{
    struct task_queue *own = queue_at(run, worker->index % queues(run));
    for (;;) {
        uint64_t task, start = ticks();
        if (!run_goes_on(run, start) || !take_or_steal(run, worker, &task))
            return;
        pause_about(worker, run->knobs[KNOB_WORK_CYCLES], run->knobs[KNOB_UNEVEN]);
        put(run, worker, own, task);
        run_count(run, worker, start, ticks());
    }
}

bool task_queue_check(struct run *run)
{
    uint64_t made = 0, there = 0, count = 0;
    for (uint64_t i = 0; i < all_tasks(run); i++)
        made += task_number(run, i);
    for (uint64_t i = 0; i < queues(run); i++) {
        struct task_queue *queue = queue_at(run, i);
        uint64_t waiting = load_relaxed(&queue->waiting);
        count += waiting;
        for (uint64_t n = 0; n < waiting && n < all_tasks(run); n++)
            there += load_relaxed(&queue->tasks[n]);
    }
    bool whole = count == all_tasks(run) && there == made;
    if (!whole)
        explain(run, "the lock does not exclude: tasks were lost or done twice");
    return whole;
}
