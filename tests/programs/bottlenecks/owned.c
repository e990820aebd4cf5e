/* SPDX-License-Identifier: MIT */
/* Locks that are each used by one thread, very often and without contention. Only a
 * lower cost of lock and unlock could make this program faster. */
#include "corpus.h"

enum { LOCKS, WORK };

struct cell {
    pthread_mutex_t mutex;
    uint64_t sections;
} __attribute__((aligned(128)));

static struct cell *cells;
static unsigned owners;

static void owned_prepare(struct part *part, unsigned threads, uint64_t seed)
{
    (void)seed;
    owners = threads;
    uint64_t count = part->knobs[LOCKS].value * threads;
    cells = aligned_alloc(128, count * sizeof *cells);
    CHECK(cells != NULL);
    for (uint64_t i = 0; i < count; i++) {
        cells[i].sections = 0;
        CHECK_OK(pthread_mutex_init(&cells[i].mutex, NULL));
    }
}

/* Makes many pairs per step, because otherwise the surrounding code would cost more
 * than the pairs. */
enum { PAIRS = 64 };

static void owned_step(struct part *part, struct worker *worker)
{
    uint64_t locks = part->knobs[LOCKS].value;
    struct cell *mine = cells + worker->index * locks;
    for (unsigned i = 0; i < PAIRS; i++) {
        struct cell *cell = &mine[random_below(worker, locks)];
        CHECK_OK(pthread_mutex_lock(&cell->mutex));
        cell->sections++;
        CHECK_OK(pthread_mutex_unlock(&cell->mutex));
        work(part->knobs[WORK].value);
    }
}

static void owned_check(struct part *part, uint64_t steps)
{
    uint64_t sections = 0, count = part->knobs[LOCKS].value * owners;
    for (uint64_t i = 0; i < count; i++) {
        sections += cells[i].sections;
        CHECK_OK(pthread_mutex_destroy(&cells[i].mutex));
    }
    CHECK_EQUAL(sections, steps * PAIRS);
    free(cells);
}

struct part owned = {
    .name = "owned",
    .summary = "each thread takes only its own locks, without pause",
    .knobs = {{"locks", 4, 1, 1000000}, {"work", 20, 0, 1000000000}},
    .prepare = owned_prepare,
    .step = owned_step,
    .check = owned_check,
};
