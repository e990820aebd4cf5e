/* SPDX-License-Identifier: MIT */
/* Reader-writer locks: pairs without contention, and mixtures of readers and writers
 * without a pause. */
#include "bench/primitives/cases/cases.h"

#include <pthread.h>

static pthread_rwlock_t rwlock __attribute__((aligned(WORKERS_LINE))) =
    PTHREAD_RWLOCK_INITIALIZER;
static volatile long guarded[SECTION_WORK] __attribute__((aligned(WORKERS_LINE)));
static unsigned percent_reads;

static void read_pair(void)
{
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

static void write_pair(void)
{
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

static struct measured measure_read_pair(unsigned threads, double seconds)
{
    return (struct measured){workers_pair_ns(threads, seconds, read_pair), -1};
}

static struct measured measure_write_pair(unsigned threads, double seconds)
{
    return (struct measured){workers_pair_ns(threads, seconds, write_pair), -1};
}

static void read_section(void)
{
    pthread_rwlock_rdlock(&rwlock);
    for (int i = 0; i < SECTION_WORK; i++)
        (void)guarded[i];
    pthread_rwlock_unlock(&rwlock);
}

static void write_section(void)
{
    pthread_rwlock_wrlock(&rwlock);
    for (int i = 0; i < SECTION_WORK; i++)
        guarded[i]++;
    pthread_rwlock_unlock(&rwlock);
}

static void mixture(struct worker *worker)
{
    while (!workers_stopped()) {
        if (worker_random(worker) % 100 < percent_reads)
            read_section();
        else
            write_section();
        worker->count++;
    }
}

static struct measured measure_mixture(unsigned threads, double seconds,
                                       unsigned percent)
{
    percent_reads = percent;
    struct rate rate = workers_rate(threads, seconds, mixture);
    return (struct measured){rate.per_second, rate.fairness};
}

#define MIXTURE(percent, words)                                                        \
    {"reads_" #percent, "rwlock", "acquisitions/s",        false,                      \
     {1, 2, 8, 32},     reads_##percent, words}

#define DEFINE_MIXTURE(percent)                                                        \
    static struct measured reads_##percent(unsigned threads, double seconds)           \
    {                                                                                  \
        return measure_mixture(threads, seconds, percent);                             \
    }
DEFINE_MIXTURE(100)
DEFINE_MIXTURE(99)
DEFINE_MIXTURE(90)
DEFINE_MIXTURE(50)

const struct primitive_case rwlock_cases[] = {
    {"read_pair", "rwlock", "ns", true, {2, 1}, measure_read_pair,
     "read lock and unlock of an uncontended rwlock"},
    {"write_pair", "rwlock", "ns", true, {2, 1}, measure_write_pair,
     "write lock and unlock of an uncontended rwlock"},
    MIXTURE(100, "short read sections without a pause between them"),
    MIXTURE(99, "the same; one section in a hundred writes"),
    MIXTURE(90, "the same; one section in ten writes"),
    MIXTURE(50, "the same; every second section writes"),
};
const unsigned rwlock_case_count = sizeof rwlock_cases / sizeof rwlock_cases[0];
