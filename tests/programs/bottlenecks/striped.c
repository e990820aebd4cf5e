/* SPDX-License-Identifier: MIT */
/* Many locks. A thread picks one at random and spends nearly all of its time in
 * critical sections. Threads seldom contend, but if they outnumber the processors, the
 * scheduler often preempts a lock holder. */
#include "corpus.h"

enum { LOCKS, HOLD, THINK };

struct stripe {
    pthread_mutex_t mutex;
    uint64_t sections;
} __attribute__((aligned(128)));

static struct stripe *stripes;

static void striped_prepare(struct part *part, unsigned threads, uint64_t seed)
{
    (void)threads, (void)seed;
    uint64_t count = part->knobs[LOCKS].value;
    stripes = aligned_alloc(128, count * sizeof *stripes);
    CHECK(stripes != NULL);
    for (uint64_t i = 0; i < count; i++) {
        stripes[i].sections = 0;
        CHECK_OK(pthread_mutex_init(&stripes[i].mutex, NULL));
    }
}

static void striped_step(struct part *part, struct worker *worker)
{
    work_about(worker, part->knobs[THINK].value);
    struct stripe *stripe = &stripes[random_below(worker, part->knobs[LOCKS].value)];
    CHECK_OK(pthread_mutex_lock(&stripe->mutex));
    uint64_t before = stripe->sections;
    work(part->knobs[HOLD].value);
    stripe->sections = before + 1;
    CHECK_OK(pthread_mutex_unlock(&stripe->mutex));
}

static void striped_check(struct part *part, uint64_t steps)
{
    uint64_t sections = 0;
    for (uint64_t i = 0; i < part->knobs[LOCKS].value; i++) {
        sections += stripes[i].sections;
        CHECK_OK(pthread_mutex_destroy(&stripes[i].mutex));
    }
    CHECK_EQUAL(sections, steps);
    free(stripes);
}

struct part striped = {
    .name = "striped",
    .summary = "one of many locks, held for long",
    .knobs = {{"locks", 512, 1, 1000000},
              {"hold", 200000, 0, 1000000000},
              {"think", 20000, 0, 1000000000}},
    .prepare = striped_prepare,
    .step = striped_step,
    .check = striped_check,
};
