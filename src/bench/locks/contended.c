/* SPDX-License-Identifier: MIT */
/*
 * Threads that all want one lock, with one short critical section: a counter on a cache
 * line of its own. The counter is also the proof: with lost updates the lock did not
 * exclude, and no figure is worth anything.
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

/* Fails about as often as it succeeds: with nothing between two attempts. */
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

/* Half of the threads take the lock, the other half attacks it with attempts. */
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

/* Pinned, so that the threads do contend: unpinned, the scheduler may well put both of
 * them on one CPU, where they meet only when one is preempted while holding. */
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

/* Counts what the threads that lock get done. All acquisitions would tell how often the
 * others find the lock free while its waiters sleep, which is no merit of a lock. */
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
