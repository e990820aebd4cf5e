/* SPDX-License-Identifier: MIT */
/* Phases separated by a barrier that is built from a mutex and a condition variable, as
 * in programs older than pthread_barrier_t. Within a phase, each thread may also
 * acquire the mutex `sections` times, to add to shared results. */
#include "corpus.h"

enum { WORK, HOLD, SECTIONS };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t begins;
    unsigned threads, arrived;
    uint64_t phase;
    uint64_t sections;
    int closed;
} barrier = {.mutex = PTHREAD_MUTEX_INITIALIZER, .begins = PTHREAD_COND_INITIALIZER};

static void phases_prepare(struct part *part, unsigned threads, uint64_t seed)
{
    (void)part, (void)seed;
    barrier.threads = threads;
}

static void add_results(struct part *part, struct worker *worker)
{
    work_about(worker, part->knobs[WORK].value);
    CHECK_OK(pthread_mutex_lock(&barrier.mutex));
    uint64_t before = barrier.sections;
    work(part->knobs[HOLD].value);
    barrier.sections = before + 1;
    CHECK_OK(pthread_mutex_unlock(&barrier.mutex));
}

static void phases_step(struct part *part, struct worker *worker)
{
    for (uint64_t i = 0; i < part->knobs[SECTIONS].value; i++)
        add_results(part, worker);
    work_about(worker, part->knobs[WORK].value);
    CHECK_OK(pthread_mutex_lock(&barrier.mutex));
    work(part->knobs[HOLD].value); /* as if results were combined */
    uint64_t phase = barrier.phase;
    if (++barrier.arrived == barrier.threads) {
        barrier.arrived = 0;
        barrier.phase++;
        CHECK_OK(pthread_cond_broadcast(&barrier.begins));
    }
    while (barrier.phase == phase && !barrier.closed)
        CHECK_OK(pthread_cond_wait(&barrier.begins, &barrier.mutex));
    CHECK(barrier.phase - phase <= 1);
    CHECK_OK(pthread_mutex_unlock(&barrier.mutex));
}

static void phases_wind_up(struct part *part)
{
    (void)part;
    CHECK_OK(pthread_mutex_lock(&barrier.mutex));
    barrier.closed = 1;
    CHECK_OK(pthread_cond_broadcast(&barrier.begins));
    CHECK_OK(pthread_mutex_unlock(&barrier.mutex));
}

static void phases_check(struct part *part, uint64_t steps)
{
    CHECK_EQUAL(barrier.phase * barrier.threads + barrier.arrived, steps);
    CHECK_EQUAL(barrier.sections, steps * part->knobs[SECTIONS].value);
}

struct part phases = {
    .name = "phases",
    .summary = "all threads wait for each other, with a condition variable",
    .knobs = {{"work", 10000, 0, 1000000000},
              {"hold", 5000, 0, 1000000000},
              {"sections", 0, 0, 1000000}},
    .prepare = phases_prepare,
    .step = phases_step,
    .wind_up = phases_wind_up,
    .check = phases_check,
};
