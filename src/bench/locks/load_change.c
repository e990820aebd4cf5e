/* SPDX-License-Identifier: MIT */
/*
 * A lock whose load changes: for a while two threads use it for short sections, then
 * all threads use it for long ones, and so on. The result is the throughput soon after
 * a change as a percentage of that later on, under the same load. A lock that does not
 * adapt reaches about 100; one that adapts reaches less while it detects the change.
 */
#include "bench/locks/harness.h"
#include "bench/locks/operations.h"
#include "bench/locks/think.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { FEW_THREADS = 2, SECTION_NS = 100, LONG_SECTION_NS = 10000 };
static const uint64_t load_ns = 20000000; /* how long each load lasts */
static const uint64_t soon_ns = 10000000; /* its part soon after the change */

enum load { FEW_SHORT, MANY_LONG, LOADS };
enum when { SOON, LATER, TIMES };

struct tally {
    uint64_t counts[LOADS][TIMES];
} __attribute__((aligned(CACHE_LINE)));

static struct {
    struct crew crew;
    union subject subject;
    struct tally *tallies;
    uint64_t started_ns;
    uint64_t turns[LOADS]; /* multiplications inside the section */
    volatile uint64_t guarded __attribute__((aligned(CACHE_LINE)));
} change;

static void sleep_until(uint64_t ns)
{
    struct timespec at = {.tv_sec = (time_t)(ns / 1000000000u),
                          .tv_nsec = (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        continue;
}

static always_inline void use(const struct operations *operations,
                              struct worker *worker, enum load load)
{
    operations->acquire(&change.subject);
    change.guarded++;
    think(worker, change.turns[load]);
    operations->release(&change.subject);
    count_one(worker);
    think(worker, THINK_FOR_EACH_SECTION * change.turns[load]);
}

static always_inline void change_loop(const struct operations *operations,
                                      struct worker *worker)
{
    struct tally *tally = &change.tallies[worker->index];
    do {
        uint64_t elapsed = now_ns() - change.started_ns, loads = elapsed / load_ns;
        enum load load = loads % LOADS == FEW_SHORT ? FEW_SHORT : MANY_LONG;
        if (load == FEW_SHORT && worker->index >= FEW_THREADS) {
            sleep_until(change.started_ns + (loads + 1) * load_ns);
            continue;
        }
        use(operations, worker, load);
        tally->counts[load][elapsed % load_ns < soon_ns ? SOON : LATER]++;
    } while (!crew_stopped(&change.crew));
}

static void change_pthread(struct worker *worker)
{
    change_loop(&pthread_operations, worker);
}

static void change_floor(struct worker *worker)
{
    change_loop(&floor_operations, worker);
}

static void start_clock(struct crew *crew)
{
    (void)crew;
    change.started_ns = now_ns();
}

/* Returns the throughput soon after a change to `load` over that later on; -1 if the
 * run ended before that. */
static double followed(enum load load)
{
    uint64_t sums[TIMES] = {0, 0};
    for (unsigned i = 0; i < change.crew.thread_count; i++)
        for (unsigned when = SOON; when < TIMES; when++)
            sums[when] += change.tallies[i].counts[load][when];
    return sums[LATER] ? (double)sums[SOON] / (double)sums[LATER] : -1;
}

void measure_load_change(const struct options *options, struct result *result)
{
    change.tallies = aligned_alloc(CACHE_LINE, options->threads * sizeof(struct tally));
    if (!change.tallies) {
        result_failed(result, "not enough memory for %u threads", options->threads);
        return;
    }
    for (unsigned i = 0; i < options->threads; i++)
        change.tallies[i] = (struct tally){{{0}}};
    change.turns[FEW_SHORT] = turns_of(SECTION_NS);
    change.turns[MANY_LONG] = turns_of(LONG_SECTION_NS);
    change.crew.before_go = start_clock;
    change.crew.work = options->floor ? change_floor : change_pthread;
    if (!options->floor)
        pthread_mutex_init(&change.subject.mutex, NULL);
    bool ended = crew_run(&change.crew, options->threads, options, result);
    result->fairness = -1; /* most threads rest during half of the loads */
    double few = followed(FEW_SHORT), many = followed(MANY_LONG);
    if (few > 0 && many > 0)
        result->value = 100 * sqrt(few * many);
    else if (ended)
        result_failed(result, "the run ended before both loads: raise --seconds");
    if (ended)
        crew_check_exclusion(&change.crew, 1, change.guarded, result);
}
