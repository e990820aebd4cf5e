/* SPDX-License-Identifier: MIT */
/* Spin locks: a pair without contention, and a short section under contention. */
#include "bench/primitives/cases/cases.h"

#include <pthread.h>

static pthread_spinlock_t spinlock __attribute__((aligned(WORKERS_LINE)));
static volatile long guarded __attribute__((aligned(WORKERS_LINE)));

static void pair(void)
{
    pthread_spin_lock(&spinlock);
    pthread_spin_unlock(&spinlock);
}

static struct measured measure_pair(unsigned threads, double seconds)
{
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    return (struct measured){workers_pair_ns(threads, seconds, pair), -1};
}

static void sections(struct worker *worker)
{
    while (!workers_stopped()) {
        pthread_spin_lock(&spinlock);
        for (int i = 0; i < SECTION_WORK; i++)
            guarded++;
        pthread_spin_unlock(&spinlock);
        worker->count++;
    }
}

static struct measured measure_sections(unsigned threads, double seconds)
{
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    struct rate rate = workers_rate(threads, seconds, sections);
    return (struct measured){rate.per_second, rate.fairness};
}

const struct primitive_case spinlock_cases[] = {
    {"spin_pair", "spinlock", "ns", true, {2, 1}, measure_pair,
     "lock and unlock of an uncontended spin lock"},
    {"spin", "spinlock", "acquisitions/s", false, {2, 8, 32}, measure_sections,
     "one short critical section, without a pause"},
};
const unsigned spinlock_case_count = sizeof spinlock_cases / sizeof spinlock_cases[0];
