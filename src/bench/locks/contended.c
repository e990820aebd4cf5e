/* SPDX-License-Identifier: MIT */
/*
 * Threads that contend for one lock, with a short critical section that increments a
 * counter in a line of its own. Lost updates show that the lock does not ensure mutual
 * exclusion, and make the result invalid.
 *
 * In think_time, threads also work outside the section. Without that, an unfair lock
 * looks fast: the thread that has just released it takes it again before another
 * thread notices. In section_time, they also work inside it.
 */
#include "bench/locks/harness.h"
#include "bench/locks/operations.h"
#include "bench/locks/think.h"

enum { THINK_INCREMENTS = 4 };

struct contest {
    struct crew crew;
    union subject subject;
    int type; /* of the pthread mutex */
    uint64_t think_turns; /* multiplications outside the section ... */
    uint64_t section_turns; /* ... and inside it */
    volatile uint64_t guarded __attribute__((aligned(CACHE_LINE)));
};

static struct contest contest;

static always_inline void acquire_loop(const struct operations *operations,
                                       struct worker *worker)
{
    do {
        operations->acquire(&contest.subject);
        contest.guarded++;
        operations->release(&contest.subject);
        count_one(worker);
    } while (!crew_stopped(&contest.crew));
}

static always_inline void think_loop(const struct operations *operations,
                                     struct worker *worker)
{
    uint64_t turns = contest.think_turns;
    do {
        operations->acquire(&contest.subject);
        for (int i = 0; i < THINK_INCREMENTS; i++)
            contest.guarded++;
        operations->release(&contest.subject);
        count_one(worker);
        think(worker, turns);
    } while (!crew_stopped(&contest.crew));
}

static always_inline void section_loop(const struct operations *operations,
                                       struct worker *worker)
{
    uint64_t turns = contest.think_turns, inside = contest.section_turns;
    do {
        operations->acquire(&contest.subject);
        contest.guarded++;
        think(worker, inside);
        operations->release(&contest.subject);
        count_one(worker);
        think(worker, turns);
    } while (!crew_stopped(&contest.crew));
}

/* Attempts without a pause in between; about half of them fail. */
static always_inline void try_loop(const struct operations *operations,
                                   struct worker *worker)
{
    do {
        if (!operations->try_acquire(&contest.subject))
            continue;
        contest.guarded++;
        operations->release(&contest.subject);
        count_one(worker);
    } while (!crew_stopped(&contest.crew));
}

/* As runtimes do that have more to do before a thread sleeps. */
static always_inline void try_first_loop(const struct operations *operations,
                                         struct worker *worker)
{
    do {
        if (!operations->try_acquire(&contest.subject))
            operations->acquire(&contest.subject);
        contest.guarded++;
        operations->release(&contest.subject);
        count_one(worker);
    } while (!crew_stopped(&contest.crew));
}

static void work_pthread(struct worker *worker)
{
    acquire_loop(&pthread_operations, worker);
}

static void work_floor(struct worker *worker)
{
    acquire_loop(&floor_operations, worker);
}

static void think_pthread(struct worker *worker)
{
    think_loop(&pthread_operations, worker);
}

static void think_floor(struct worker *worker)
{
    think_loop(&floor_operations, worker);
}

static void section_pthread(struct worker *worker)
{
    section_loop(&pthread_operations, worker);
}

static void section_floor(struct worker *worker)
{
    section_loop(&floor_operations, worker);
}

static void try_pthread(struct worker *worker)
{
    try_loop(&pthread_operations, worker);
}

static void try_floor(struct worker *worker)
{
    try_loop(&floor_operations, worker);
}

static void try_first_pthread(struct worker *worker)
{
    try_first_loop(&pthread_operations, worker);
}

static void try_first_floor(struct worker *worker)
{
    try_first_loop(&floor_operations, worker);
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

static void run_contest(const struct options *options, struct result *result,
                        unsigned increments)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, contest.type);
    if (!options->floor)
        pthread_mutex_init(&contest.subject.mutex, &attributes);
    bool ended = crew_run(&contest.crew, options->threads, options, result);
    if (result->seconds > 0)
        result->value = result->operations / result->seconds;
    if (ended)
        crew_check_exclusion(&contest.crew, increments, contest.guarded, result);
}

/* Pinned so that the threads contend: the scheduler may put two threads on one CPU,
 * where they contend only if one is preempted while it holds the lock. */
void measure_contended(const struct options *options, struct result *result)
{
    contest.crew.pinned = true;
    contest.crew.work = options->floor ? work_floor : work_pthread;
    run_contest(options, result, 1);
}

void measure_think_time(const struct options *options, struct result *result)
{
    contest.crew.pinned = options->pinned;
    contest.crew.watch_stalls = true;
    contest.crew.work = options->floor ? think_floor : think_pthread;
    contest.think_turns = options->think_ns ? turns_of(options->think_ns) : 0;
    run_contest(options, result, THINK_INCREMENTS);
}

void measure_section_time(const struct options *options, struct result *result)
{
    contest.crew.pinned = options->pinned;
    contest.crew.watch_stalls = true;
    contest.crew.work = options->floor ? section_floor : section_pthread;
    contest.think_turns = options->think_ns ? turns_of(options->think_ns) : 0;
    contest.section_turns = contest.think_turns / THINK_FOR_EACH_SECTION;
    run_contest(options, result, 1);
}

void measure_oversubscribed(const struct options *options, struct result *result)
{
    contest.crew.watch_stalls = true;
    contest.crew.work = options->floor ? work_floor : work_pthread;
    run_contest(options, result, 1);
}

void measure_trylock(const struct options *options, struct result *result)
{
    contest.crew.pinned = true;
    contest.crew.work = options->floor ? try_floor : try_pthread;
    run_contest(options, result, 1);
}

void measure_try_first(const struct options *options, struct result *result)
{
    contest.crew.watch_stalls = true;
    contest.type = PTHREAD_MUTEX_ERRORCHECK;
    contest.crew.work = options->floor ? try_first_floor : try_first_pthread;
    run_contest(options, result, 1);
}

/* Counts only the threads that lock. Successful attempts of the others mostly show how
 * often the lock is free while its waiters sleep, which is not an advantage. */
void measure_trylock_hammer(const struct options *options, struct result *result)
{
    contest.crew.pinned = true;
    contest.crew.work = options->floor ? hammer_floor : hammer_pthread;
    run_contest(options, result, 1);
    result->fairness = -1;
    if (result->seconds <= 0 || result->value < 0)
        return;
    result->operations = 0;
    for (unsigned i = 0; i < contest.crew.thread_count; i += 2)
        result->operations += (double)contest.crew.workers[i].final_count;
    result->value = result->operations / result->seconds;
}
