/* SPDX-License-Identifier: MIT */
/* All threads keep creating locks, using each once and destroying it, in memory that is
 * fresh from the kernel. This causes page faults, which take the kernel's own lock on
 * the address space. */
#include <sys/mman.h>

#include "corpus.h"

enum { BATCH, BYTES, WORK };

struct chunk {
    pthread_mutex_t mutex;
    uint64_t sections;
};

static void churn_step(struct part *part, struct worker *worker)
{
    uint64_t batch = part->knobs[BATCH].value, bytes = part->knobs[BYTES].value;
    CHECK_EQUAL(bytes % 64, 0);
    char *memory = mmap(NULL, batch * bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    for (uint64_t i = 0; i < batch; i++) {
        struct chunk *chunk = (struct chunk *)(memory + i * bytes);
        CHECK_OK(pthread_mutex_init(&chunk->mutex, NULL));
        CHECK_OK(pthread_mutex_lock(&chunk->mutex));
        chunk->sections += worker->steps;
        CHECK_OK(pthread_mutex_unlock(&chunk->mutex));
    }
    for (uint64_t i = 0; i < batch; i++) {
        struct chunk *chunk = (struct chunk *)(memory + i * bytes);
        CHECK_EQUAL(chunk->sections, worker->steps);
        CHECK_OK(pthread_mutex_destroy(&chunk->mutex));
    }
    CHECK_OK(munmap(memory, batch * bytes));
    work_about(worker, part->knobs[WORK].value);
}

struct part churn = {
    .name = "churn",
    .summary = "all threads create and destroy locks in fresh memory",
    .knobs = {{"batch", 64, 1, 100000},
              {"bytes", 2048, 64, 1 << 20},
              {"work", 10000, 0, 1000000000}},
    .step = churn_step,
};
