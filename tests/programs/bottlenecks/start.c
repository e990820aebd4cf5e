/* SPDX-License-Identifier: MIT */
/* One thread creates very many locks, each in its own object, before the others start.
 * The locks are seldom used, so their main cost is memory. */
#include "corpus.h"

enum { LOCKS, BYTES, WORK };

struct object {
    pthread_mutex_t mutex;
    uint64_t sections;
};

static char *objects;

static struct object *object_at(struct part *part, uint64_t index)
{
    return (struct object *)(objects + index * part->knobs[BYTES].value);
}

static void start_prepare(struct part *part, unsigned threads, uint64_t seed)
{
    (void)threads, (void)seed;
    uint64_t count = part->knobs[LOCKS].value;
    CHECK_EQUAL(part->knobs[BYTES].value % 64, 0);
    objects = aligned_alloc(64, count * part->knobs[BYTES].value);
    CHECK(objects != NULL);
    for (uint64_t i = 0; i < count; i++) {
        CHECK_OK(pthread_mutex_init(&object_at(part, i)->mutex, NULL));
        object_at(part, i)->sections = 0;
    }
}

static void start_step(struct part *part, struct worker *worker)
{
    work_about(worker, part->knobs[WORK].value);
    uint64_t pick = random_below(worker, part->knobs[LOCKS].value);
    struct object *object = object_at(part, pick);
    CHECK_OK(pthread_mutex_lock(&object->mutex));
    object->sections++;
    CHECK_OK(pthread_mutex_unlock(&object->mutex));
}

static void start_check(struct part *part, uint64_t steps)
{
    uint64_t sections = 0;
    for (uint64_t i = 0; i < part->knobs[LOCKS].value; i++)
        sections += object_at(part, i)->sections;
    CHECK_EQUAL(sections, steps);
    free(objects);
}

struct part start = {
    .name = "start",
    .summary = "many locks, which one thread creates at the start",
    .knobs = {{"locks", 50000, 1, 10000000},
              {"bytes", 1024, 64, 1 << 20},
              {"work", 20000, 0, 1000000000}},
    .prepare = start_prepare,
    .step = start_step,
    .check = start_check,
};
