/* SPDX-License-Identifier: MIT */
/* One lock for all threads. The ratio of `think` to `hold` determines whether the lock
 * is contended never, sometimes or always. */
#include "corpus.h"

enum { HOLD, THINK };

static struct {
    pthread_mutex_t mutex;
    uint64_t sections;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void hot_step(struct part *part, struct worker *worker)
{
    work_about(worker, part->knobs[THINK].value);
    CHECK_OK(pthread_mutex_lock(&table.mutex));
    uint64_t before = table.sections;
    work(part->knobs[HOLD].value);
    table.sections = before + 1;
    CHECK_OK(pthread_mutex_unlock(&table.mutex));
}

static void hot_check(struct part *part, uint64_t steps)
{
    (void)part;
    CHECK_EQUAL(table.sections, steps);
}

struct part hot = {
    .name = "hot",
    .summary = "one lock for all threads",
    .knobs = {{"hold", 2000, 0, 1000000000}, {"think", 1000, 0, 1000000000}},
    .step = hot_step,
    .check = hot_check,
};
