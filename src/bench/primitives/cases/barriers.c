/* SPDX-License-Identifier: MIT */
/* Barriers: the time of a phase in which the threads do nothing else. */
#include "bench/primitives/cases/cases.h"

#include <math.h>
#include <pthread.h>

static pthread_barrier_t barrier __attribute__((aligned(WORKERS_LINE)));

/* All threads see the stop in the same phase: the serial one of a phase decides it, and
 * a second barrier makes it known. Each round is two phases. */
static void phases(struct worker *worker)
{
    static bool last;
    for (bool end = false; !end; worker->count += 2) {
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_store_n(&last, workers_stopped(), __ATOMIC_RELAXED);
        pthread_barrier_wait(&barrier);
        end = __atomic_load_n(&last, __ATOMIC_RELAXED);
    }
}

static struct measured measure_phase(unsigned threads, double seconds)
{
    pthread_barrier_init(&barrier, NULL, threads);
    double waits = workers_rate(threads, seconds, phases).per_second;
    return (struct measured){threads * 1e9 / fmax(waits, 1), -1};
}

const struct primitive_case barrier_cases[] = {
    {"barrier", "barrier", "ns", true, {2, 8, 32}, measure_phase,
     "a phase: from the last arrival until all threads arrive again"},
};
const unsigned barrier_case_count = sizeof barrier_cases / sizeof barrier_cases[0];
