/* SPDX-License-Identifier: MIT */
/*
 * Stages connected by bounded queues, each under a lock, as in PARSEC's dedup and
 * ferret. Worker i serves stage i modulo the number of stages, and waits on a condition
 * if a queue is empty or full. At the end of the run the first stage stops, and the
 * last worker of a stage closes the queue that follows it.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

struct queue {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    /* Guarded by the lock. */
    struct atomic_u64 taken __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 put;
    struct atomic_u32 fillers; /* workers that may still add items */
    struct ledger ledger;
    /* filled: an item was added or the queue closed. emptied: an item was taken. */
    struct condition filled, emptied;
    struct atomic_u64 items[] __attribute__((aligned(CACHE_LINE)));
};

static uint64_t stages(const struct run *run)
{
    uint64_t wanted = run->knobs[KNOB_STAGES];
    return wanted < run->threads ? wanted : run->threads;
}

/* Returns the queue between stage `index` and the next. */
static struct queue *queue_at(const struct run *run, uint64_t index)
{
    size_t items = run->knobs[KNOB_CAPACITY] * sizeof(struct atomic_u64);
    size_t bytes =
        sizeof(struct queue) + (items + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return (struct queue *)((char *)run->shared + index * bytes);
}

bool pipeline_prepare(struct run *run)
{
    uint64_t queues = stages(run) - 1;
    size_t bytes = (size_t)((char *)queue_at(run, queues) - (char *)run->shared);
    run->shared = run_memory(run, bytes);
    if (!run->shared)
        return false;
    for (uint64_t i = 0; i < queues; i++) {
        struct queue *queue = queue_at(run, i);
        mutex_create(&queue->mutex);
        condition_create(&queue->filled);
        condition_create(&queue->emptied);
        store_relaxed(&queue->fillers,
                      (uint32_t)((run->threads - i + stages(run) - 1) / stages(run)));
    }
    return true;
}

static void acquire(struct run *run, struct worker *worker, struct queue *queue)
{
    uint64_t wanted = ticks();
    mutex_lock(run, &queue->mutex);
    ledger_acquired(&queue->ledger, run, worker, wanted, ticks());
}

static void release(struct run *run, struct queue *queue)
{
    queue->ledger.released = ticks();
    mutex_unlock(run, &queue->mutex);
}

/* Waits until the condition is signalled after `seen`, with the mutex released. */
static void wait_for(struct run *run, struct worker *worker, struct queue *queue,
                     struct condition *condition, uint32_t *seen)
{
    queue->ledger.released = ticks();
    uint64_t wanted = condition_wait(run, condition, &queue->mutex, seen);
    if (wanted)
        ledger_acquired(&queue->ledger, run, worker, wanted, ticks());
    else
        ledger_took(&queue->ledger, worker);
}

static bool is_empty(struct queue *queue, uint64_t *taken)
{
    *taken = load_relaxed(&queue->taken);
    return load_relaxed(&queue->put) == *taken;
}

static bool is_full(struct queue *queue, uint64_t capacity, uint64_t *there)
{
    *there = load_relaxed(&queue->put);
    return *there - load_relaxed(&queue->taken) == capacity;
}

/* Returns false if the queue is empty and closed. */
static bool take(struct run *run, struct worker *worker, struct queue *queue,
                 uint64_t *item)
{
    uint32_t seen = condition_seen(&queue->filled);
    acquire(run, worker, queue);
    uint64_t taken;
    while (is_empty(queue, &taken)) {
        if (load_relaxed(&queue->fillers) == 0) {
            release(run, queue);
            return false;
        }
        wait_for(run, worker, queue, &queue->filled, &seen);
    }
    *item = load_relaxed(&queue->items[taken % run->knobs[KNOB_CAPACITY]]);
    store_relaxed(&queue->taken, taken + 1);
    release(run, queue);
    condition_signal(&queue->emptied);
    return true;
}

static void put(struct run *run, struct worker *worker, struct queue *queue,
                uint64_t item)
{
    const uint64_t capacity = run->knobs[KNOB_CAPACITY];
    uint32_t seen = condition_seen(&queue->emptied);
    acquire(run, worker, queue);
    uint64_t there;
    while (is_full(queue, capacity, &there))
        wait_for(run, worker, queue, &queue->emptied, &seen);
    store_relaxed(&queue->items[there % capacity], item);
    store_relaxed(&queue->put, there + 1);
    release(run, queue);
    condition_signal(&queue->filled);
}

static void close_queue(struct run *run, struct worker *worker, struct queue *queue)
{
    acquire(run, worker, queue);
    store_relaxed(&queue->fillers, load_relaxed(&queue->fillers) - 1);
    release(run, queue);
    condition_broadcast(&queue->filled);
}

/* The balances add up to the items that entered the first stage minus those that left
 * the last one. */
void pipeline_work(struct run *run, struct worker *worker)
{
    uint64_t stage = worker->index % stages(run);
    bool first = stage == 0, last = stage + 1 == stages(run);
    worker->aside = !last;
    for (;;) {
        uint64_t start = ticks(), item;
        if (first) {
            if (!run_goes_on(run, start))
                break;
            item = random_next(&worker->random);
            worker->balance += item;
        } else if (!take(run, worker, queue_at(run, stage - 1), &item)) {
            break;
        }
        pause_about(worker, run->knobs[KNOB_WORK_CYCLES], run->knobs[KNOB_UNEVEN]);
        if (last) {
            worker->balance -= item;
            run_count(run, worker, start, ticks());
        } else {
            put(run, worker, queue_at(run, stage), item);
        }
    }
    if (!last)
        close_queue(run, worker, queue_at(run, stage));
}

bool pipeline_check(struct run *run)
{
    uint64_t balance = 0;
    for (unsigned i = 0; i < run->threads; i++)
        balance += run->workers[i].balance;
    if (balance)
        explain(run, "the lock does not exclude: items were lost or passed on twice");
    return balance == 0;
}
