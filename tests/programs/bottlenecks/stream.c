/* SPDX-License-Identifier: MIT */
/* Threads that wait for memory, not for locks: each reads far more memory than fits
 * into a cache, and now and then acquires a lock to report its progress. */
#include "corpus.h"

enum { MEGABYTES, LINES };
enum { LINE = 64 };

static struct {
    pthread_mutex_t mutex;
    uint64_t lines;
} progress = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static char *memory;
static uint64_t lines_each;

static void stream_prepare(struct part *part, unsigned threads, uint64_t seed)
{
    lines_each = (part->knobs[MEGABYTES].value << 20) / LINE;
    memory = aligned_alloc(LINE, threads * lines_each * LINE);
    CHECK(memory != NULL);
    memset(memory, (int)seed, threads * lines_each * LINE);
}

/* Reads lines at random places, which no prefetcher can predict: the address of each
 * read depends on the previous one. */
static void stream_step(struct part *part, struct worker *worker)
{
    char *mine = memory + worker->index * lines_each * LINE;
    uint64_t place = random_next(worker);
    for (uint64_t i = 0; i < part->knobs[LINES].value; i++) {
        place = place * 6364136223846793005u + 1442695040888963407u;
        uint64_t *word = (uint64_t *)(mine + (place >> 33) % lines_each * LINE);
        place += *word & 1;
        *word += 2;
    }
    CHECK_OK(pthread_mutex_lock(&progress.mutex));
    progress.lines += part->knobs[LINES].value;
    CHECK_OK(pthread_mutex_unlock(&progress.mutex));
}

static void stream_check(struct part *part, uint64_t steps)
{
    CHECK_EQUAL(progress.lines, steps * part->knobs[LINES].value);
    free(memory);
}

struct part stream = {
    .name = "stream",
    .summary = "far more memory than fits into caches, and seldom a lock",
    .knobs = {{"megabytes", 16, 1, 4096}, {"lines", 2000, 1, 1000000000}},
    .prepare = stream_prepare,
    .step = stream_step,
    .check = stream_check,
};
