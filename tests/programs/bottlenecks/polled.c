/* SPDX-License-Identifier: MIT */
/* One lock that most threads acquire by calling trylock until it succeeds: the busy
 * waiting of programs that do not let their locks do the waiting. */
#include "corpus.h"

enum { HOLD, THINK, PAUSE, BLOCKING };

static struct {
    pthread_mutex_t mutex;
    uint64_t sections;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void polled_step(struct part *part, struct worker *worker)
{
    work_about(worker, part->knobs[THINK].value);
    if (random_below(worker, 100) < part->knobs[BLOCKING].value) {
        CHECK_OK(pthread_mutex_lock(&pool.mutex));
    } else {
        for (int result; (result = pthread_mutex_trylock(&pool.mutex)) != 0;) {
            CHECK_EQUAL(result, EBUSY);
            work(part->knobs[PAUSE].value);
        }
    }
    uint64_t before = pool.sections;
    work(part->knobs[HOLD].value);
    pool.sections = before + 1;
    CHECK_OK(pthread_mutex_unlock(&pool.mutex));
}

static void polled_check(struct part *part, uint64_t steps)
{
    (void)part;
    CHECK_EQUAL(pool.sections, steps);
}

struct part polled = {
    .name = "polled",
    .summary = "one lock, tried until it is free; `blocking` percent use lock",
    .knobs = {{"hold", 2000, 0, 1000000000},
              {"think", 1000, 0, 1000000000},
              {"pause", 50, 0, 1000000000},
              {"blocking", 0, 0, 100}},
    .step = polled_step,
    .check = polled_check,
};
