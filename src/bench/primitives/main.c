/* SPDX-License-Identifier: MIT */
/*
 * hasp-bench-primitives CASE [THREADS [SECONDS]]: measures pthread's spin locks and
 * barriers once, and prints a JSON object (schema hasp.bench/1). `hasp bench` runs it
 * under each algorithm, in turns.
 *
 *   spin_pair  ns for lock and unlock without contention; a second thread sleeps
 *   spin       acquisitions/s of all threads, each with a short critical section
 *   barrier    ns for each phase
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 1024, WORK = 8, BATCH = 1000 };

static pthread_spinlock_t spinlock __attribute__((aligned(128)));
static pthread_barrier_t barrier __attribute__((aligned(128)));
static volatile long guarded __attribute__((aligned(128)));
static int stop __attribute__((aligned(128)));
static int begun;

struct worker {
    long count __attribute__((aligned(128)));
    pthread_t thread;
};
static struct worker workers[MOST_THREADS];

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void *spin_body(void *argument)
{
    struct worker *worker = argument;
    __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
    while (!stopped()) {
        pthread_spin_lock(&spinlock);
        for (int i = 0; i < WORK; i++)
            guarded++;
        pthread_spin_unlock(&spinlock);
        worker->count++;
    }
    return NULL;
}

/* All threads see the stop in the same phase: the serial one of a phase decides it, and
 * a second barrier makes it known. Each round is two phases. */
static void *barrier_body(void *argument)
{
    struct worker *worker = argument;
    static int last;
    __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
    for (int end = 0; !end; worker->count += 2) {
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_store_n(&last, stopped(), __ATOMIC_RELAXED);
        pthread_barrier_wait(&barrier);
        end = __atomic_load_n(&last, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *sleep_body(void *argument)
{
    (void)argument;
    __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
    while (!stopped())
        usleep(1000);
    return NULL;
}

static void start(unsigned threads, void *(*body)(void *))
{
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i]) != 0) {
            perror("hasp-bench-primitives: cannot start a thread");
            exit(1);
        }
}

static void end(unsigned threads)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
}

static long counted(unsigned threads)
{
    long sum = 0;
    for (unsigned i = 0; i < threads; i++)
        sum += __atomic_load_n(&workers[i].count, __ATOMIC_RELAXED);
    return sum;
}

static double measure_spin_pair(unsigned threads, double seconds)
{
    long pairs = 0;
    start(threads - 1, sleep_body);
    double begin = now(), took;
    do {
        for (int i = 0; i < BATCH; i++) {
            pthread_spin_lock(&spinlock);
            pthread_spin_unlock(&spinlock);
        }
        pairs += BATCH;
        took = now() - begin;
    } while (took < seconds);
    end(threads - 1);
    return took * 1e9 / (double)pairs;
}

/* Counts while all threads run, and from when all have begun. */
static double measure_running(unsigned threads, double seconds, void *(*body)(void *))
{
    start(threads, body);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < (int)threads)
        usleep(200);
    long before = counted(threads);
    double begin = now();
    usleep((useconds_t)(seconds * 1e6));
    double rate = (double)(counted(threads) - before) / (now() - begin);
    end(threads);
    return rate;
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "";
    unsigned threads = count > 2 ? (unsigned)atoi(words[2]) : 2;
    double seconds = count > 3 ? atof(words[3]) : 0.2, value;
    const char *unit = "ns";
    if (threads < 1 || threads > MOST_THREADS || !(seconds > 0)) {
        fputs("usage: hasp-bench-primitives spin_pair|spin|barrier "
              "[THREADS [SECONDS]]\n",
              stderr);
        return 2;
    }
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, threads);
    if (strcmp(name, "spin_pair") == 0) {
        value = measure_spin_pair(threads, seconds);
    } else if (strcmp(name, "spin") == 0) {
        value = measure_running(threads, seconds, spin_body);
        unit = "acquisitions/s";
    } else if (strcmp(name, "barrier") == 0) {
        value =
            threads * 1e9 / fmax(measure_running(threads, seconds, barrier_body), 1);
    } else {
        fprintf(stderr, "hasp-bench-primitives: there is no case \"%s\"\n", name);
        return 2;
    }
    printf("{\"schema\":\"hasp.bench/1\",\"case\":\"%s\",\"threads\":%u,"
           "\"seconds\":%g,\"unit\":\"%s\",\"value\":%.6g}\n",
           name, threads, seconds, unit, value);
    return 0;
}
