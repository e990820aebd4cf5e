/* SPDX-License-Identifier: MIT */
#include "bench/primitives/workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 1000 };

static int stop __attribute__((aligned(WORKERS_LINE)));
static unsigned begun;
static struct worker workers[WORKERS_MOST];
static pthread_t threads_of[WORKERS_MOST];
static void (*body_of_all)(struct worker *);

double workers_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

bool workers_stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* xorshift64*, by S. Vigna. */
uint32_t worker_random(struct worker *worker)
{
    uint64_t state = worker->random;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    worker->random = state;
    return (uint32_t)(state * 0x2545f4914f6cdd1dull >> 32);
}

static void *run(void *argument)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
    body_of_all(argument);
    return NULL;
}

static void start(unsigned threads, void (*body)(struct worker *))
{
    body_of_all = body;
    for (unsigned i = 0; i < threads; i++) {
        workers[i].random = 0x9e3779b97f4a7c15ull * (i + 1);
        if (pthread_create(&threads_of[i], NULL, run, &workers[i]) != 0) {
            perror("hasp-bench-primitives: cannot start a thread");
            exit(1);
        }
    }
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < threads)
        usleep(200);
}

static void end(unsigned threads)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(threads_of[i], NULL);
}

struct rate workers_rate(unsigned threads, double seconds,
                         void (*body)(struct worker *))
{
    static long before[WORKERS_MOST];
    long sum = 0, least = 0, most = 0;
    start(threads, body);
    double begin = workers_now();
    for (unsigned i = 0; i < threads; i++)
        before[i] = __atomic_load_n(&workers[i].count, __ATOMIC_RELAXED);
    usleep((useconds_t)(seconds * 1e6));
    double took = workers_now() - begin;
    for (unsigned i = 0; i < threads; i++) {
        long did = __atomic_load_n(&workers[i].count, __ATOMIC_RELAXED) - before[i];
        sum += did;
        least = i == 0 || did < least ? did : least;
        most = did > most ? did : most;
    }
    end(threads);
    return (struct rate){(double)sum / took, most ? (double)least / (double)most : 0};
}

static void sleep_until_stopped(struct worker *worker)
{
    (void)worker;
    while (!workers_stopped())
        usleep(1000);
}

double workers_pair_ns(unsigned threads, double seconds, void (*pair)(void))
{
    long pairs = 0;
    start(threads - 1, sleep_until_stopped);
    double begin = workers_now(), took;
    do {
        for (int i = 0; i < BATCH; i++)
            pair();
        pairs += BATCH;
        took = workers_now() - begin;
    } while (took < seconds);
    end(threads - 1);
    return took * 1e9 / (double)pairs;
}
