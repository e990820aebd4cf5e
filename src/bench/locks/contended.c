/* SPDX-License-Identifier: MIT */
/*
 * Threads that contend for one lock, with a short critical section that increments a
 * counter in a line of its own. Lost updates show that the lock does not ensure mutual
 * exclusion, and make the result invalid.
 */
#include "bench/locks/harness.h"
#include "bench/locks/operations.h"

struct contest {
    struct crew crew;
    union subject subject;
    uint64_t guarded __attribute__((aligned(CACHE_LINE)));
};

static struct contest contest;

static always_inline void acquire_loop(const struct operations *operations,
                                       struct worker *worker)
{
    while (!crew_stopped(&contest.crew)) {
        operations->acquire(&contest.subject);
        contest.guarded++;
        operations->release(&contest.subject);
        count_one(worker);
    }
}

/* Attempts without a pause in between; about half of them fail. */
static always_inline void try_loop(const struct operations *operations,
                                   struct worker *worker)
{
    while (!crew_stopped(&contest.crew)) {
        if (!operations->try_acquire(&contest.subject))
            continue;
        contest.guarded++;
        operations->release(&contest.subject);
        count_one(worker);
    }
}

static void work_pthread(struct worker *worker)
{
    acquire_loop(&pthread_operations, worker);
}

static void work_floor(struct worker *worker)
{
    acquire_loop(&floor_operations, worker);
}

static void try_pthread(struct worker *worker)
{
    try_loop(&pthread_operations, worker);
}

static void try_floor(struct worker *worker)
{
    try_loop(&floor_operations, worker);
}

/* Half of the threads lock, the other half call trylock in a loop. */
static void hammer_pthread(struct worker *worker)
{
    if (worker->index % 2)
        try_loop(&pthread_operations, worker);
    else
        acquire_loop(&pthread_operations, worker);
}

static void hammer_floor(struct worker *worker)
{
    if (worker->index % 2)
        try_loop(&floor_operations, worker);
    else
        acquire_loop(&floor_operations, worker);
}

static void check_exclusion(struct result *result)
{
    uint64_t counted = 0;
    for (unsigned i = 0; i < contest.crew.thread_count; i++)
        counted += load_relaxed(&contest.crew.workers[i].count);
    if (counted != contest.guarded)
        result_failed(result,
                      "the lock does not exclude: %llu of %llu updates were lost",
                      (unsigned long long)(counted - contest.guarded),
                      (unsigned long long)counted);
}

static void run_contest(const struct options *options, struct result *result)
{
    if (!options->floor)
        pthread_mutex_init(&contest.subject.mutex, NULL);
    bool ended = crew_run(&contest.crew, options->threads, options, result);
    if (result->seconds > 0)
        result->value = result->operations / result->seconds;
    if (ended)
        check_exclusion(result);
}

/* Pinned so that the threads contend: the scheduler may put two threads on one CPU,
 * where they contend only if one is preempted while it holds the lock. */
void measure_contended(const struct options *options, struct result *result)
{
    contest.crew.pinned = true;
    contest.crew.work = options->floor ? work_floor : work_pthread;
    run_contest(options, result);
}

void measure_oversubscribed(const struct options *options, struct result *result)
{
    contest.crew.watch_stalls = true;
    contest.crew.work = options->floor ? work_floor : work_pthread;
    run_contest(options, result);
}

void measure_trylock(const struct options *options, struct result *result)
{
    contest.crew.pinned = true;
    contest.crew.work = options->floor ? try_floor : try_pthread;
    run_contest(options, result);
}

/* Counts only the threads that lock. Successful attempts of the others mostly show how
 * often the lock is free while its waiters sleep, which is not an advantage. */
void measure_trylock_hammer(const struct options *options, struct result *result)
{
    contest.crew.pinned = true;
    contest.crew.work = options->floor ? hammer_floor : hammer_pthread;
    run_contest(options, result);
    result->fairness = -1;
    if (result->seconds <= 0 || result->value < 0)
        return;
    result->operations = 0;
    for (unsigned i = 0; i < contest.crew.thread_count; i += 2)
        result->operations += (double)contest.crew.workers[i].final_count;
    result->value = result->operations / result->seconds;
}
