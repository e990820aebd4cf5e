/* SPDX-License-Identifier: MIT */
/*
 * The cost of an uncontended lock: a pair of lock and unlock, and the whole lifecycle
 * of a mutex.
 *
 * The value is that of the fastest chunk. A chunk is shorter than the interval between
 * two timer interrupts, so the fastest one contains only the lock's own instructions.
 * With two threads the second one sleeps; as the process is then multi-threaded, locks
 * that skip atomic operations in single-threaded processes have to use them.
 */
#include <math.h>

#include "bench/locks/harness.h"
#include "bench/locks/operations.h"

enum { CHUNK_OPERATIONS = 10000 };

struct solo {
    struct crew crew;
    struct result *live;       /* updated during the measurement, if not NULL */
    struct atomic_u64 best_ps; /* picoseconds per operation; 0: no chunk yet */
    struct atomic_u64 chunks;
    unsigned beside;           /* number of multiplications after each pair */
    uint64_t work;             /* their product so far */
    union subject subject;
};

/* Static because a hanging worker may outlive the function that starts it. */
static struct solo solo;

static always_inline void pairs(const struct operations *operations,
                                union subject *subject)
{
    for (int i = 0; i < CHUNK_OPERATIONS; i++) {
        operations->acquire(subject);
        operations->release(subject);
    }
}

static always_inline void lives(const struct operations *operations,
                                union subject *subject)
{
    for (int i = 0; i < CHUNK_OPERATIONS; i++) {
        operations->create(subject);
        operations->acquire(subject);
        operations->release(subject);
        operations->destroy(subject);
    }
}

/* The alignment of the loop is the same in every build. */
#define measured_function static __attribute__((noinline, aligned(64))) void

measured_function pairs_pthread(union subject *subject)
{
    pairs(&pthread_operations, subject);
}

/* Simulates a program that does other work: a chain of multiplications, about a
 * nanosecond each, that do not overlap and do not start before the release, because
 * they depend on the value it wrote. */
measured_function pairs_beside(union subject *subject)
{
    for (int i = 0; i < CHUNK_OPERATIONS; i++) {
        pthread_acquire(subject);
        pthread_release(subject);
        uint64_t value = solo.work + load_relaxed(&subject->floor);
        for (unsigned n = 0; n < solo.beside; n++)
            value = value * 6364136223846793005u + 1;
        solo.work = value;
    }
}

measured_function pairs_floor(union subject *subject)
{
    pairs(&floor_operations, subject);
}

measured_function lives_pthread(union subject *subject)
{
    lives(&pthread_operations, subject);
}

measured_function lives_floor(union subject *subject)
{
    lives(&floor_operations, subject);
}

static void read_best(const struct solo *solo, struct result *result)
{
    uint64_t best_ps = load_relaxed(&solo->best_ps);
    result->value = best_ps ? (double)best_ps / 1e3 : -1;
    result->operations = (double)load_relaxed(&solo->chunks) * CHUNK_OPERATIONS;
    result->fairness = -1;
}

static void measure_chunks(struct solo *solo, double seconds,
                           void (*chunk)(union subject *))
{
    uint64_t start_ns = now_ns();
    uint64_t now = start_ns;
    do {
        uint64_t before_ns = now;
        chunk(&solo->subject);
        now = now_ns();
        uint64_t each_ps = (now - before_ns) * 1000 / CHUNK_OPERATIONS;
        uint64_t best_ps = load_relaxed(&solo->best_ps);
        if (best_ps == 0 || each_ps < best_ps)
            store_relaxed(&solo->best_ps, each_ps);
        store_relaxed(&solo->chunks, load_relaxed(&solo->chunks) + 1);
        if (solo->live) {
            solo->live->seconds = (double)(now - start_ns) / 1e9;
            read_best(solo, solo->live);
        }
    } while ((double)(now - start_ns) < seconds * 1e9 && !crew_stopped(&solo->crew));
}

static void work_pairs(struct worker *worker)
{
    measure_chunks((struct solo *)worker->crew, HUGE_VAL, pairs_pthread);
}

static void work_pairs_beside(struct worker *worker)
{
    measure_chunks((struct solo *)worker->crew, HUGE_VAL, pairs_beside);
}

static void work_pairs_floor(struct worker *worker)
{
    measure_chunks((struct solo *)worker->crew, HUGE_VAL, pairs_floor);
}

static void work_lives(struct worker *worker)
{
    measure_chunks((struct solo *)worker->crew, HUGE_VAL, lives_pthread);
}

static void work_lives_floor(struct worker *worker)
{
    measure_chunks((struct solo *)worker->crew, HUGE_VAL, lives_floor);
}

static void measure_solo(const struct options *options, struct result *result,
                         void (*work)(struct worker *), void (*chunk)(union subject *))
{
    if (options->threads == 1) {
        solo.live = result;
        measure_chunks(&solo, options->seconds, chunk);
        return;
    }
    solo.crew.work = work;
    crew_run(&solo.crew, 1, options, result);
    read_best(&solo, result);
}

void measure_uncontended(const struct options *options, struct result *result)
{
    void (*work)(struct worker *) = options->floor ? work_pairs_floor : work_pairs;
    void (*chunk)(union subject *) = options->floor ? pairs_floor : pairs_pthread;
    if (!options->floor)
        pthread_mutex_init(&solo.subject.mutex, NULL);
    if (options->beside) {
        solo.beside = options->beside;
        work = work_pairs_beside;
        chunk = pairs_beside;
    }
    measure_solo(options, result, work, chunk);
}

void measure_create_destroy(const struct options *options, struct result *result)
{
    if (options->floor)
        measure_solo(options, result, work_lives_floor, lives_floor);
    else
        measure_solo(options, result, work_lives, lives_pthread);
}
