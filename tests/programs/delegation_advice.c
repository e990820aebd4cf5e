/* SPDX-License-Identifier: MIT */
/*
 * Programs of which it is known whether delegation can help them on a machine with many
 * CPUs: delegation_advice PROGRAM [THREADS [SECONDS]].
 *
 * Short sections of one mutex, and 1 or 2 us of other work between them, so that it
 * limits 48 threads:
 *   counter  adds to a counter
 *   jobs     takes a job from a list and puts it back
 *   table    changes five cells of a small table
 *   brief    computes for 700 ns in each section
 *   wide     adds to 20 counters in cache lines of their own, with 10 us of other work
 *
 * Delegation cannot help:
 *   rare     counter, with 200 us of other work
 *   long     computes for 100 us in each section
 *   striped  counter, with one of 1,024 mutexes
 *   slow     computes for 5 us in each section, with 1 us of other work
 *   seldom   counter, with 40 us of other work
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STRIPES = 1024, CELLS = 64, WIDE = 20, THREADS_MOST = 64 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    _Alignas(128) pthread_mutex_t mu;
    long count;
} stripes[STRIPES];
static struct job {
    struct job *next;
    long runs;
} jobs[CELLS], *first_job;
static struct {
    _Alignas(128) long count;
} wide[WIDE];
static long count, table[CELLS];
static atomic_bool stop;

static void work_for(long ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long end = now.tv_sec * 1000000000LL + now.tv_nsec + ns;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec * 1000000000LL + now.tv_nsec < end);
}

static void count_up(void)
{
    pthread_mutex_lock(&mu);
    count++;
    pthread_mutex_unlock(&mu);
}

static void count_often(void)
{
    work_for(1000);
    count_up();
}

static void use_job(void)
{
    work_for(2000);
    pthread_mutex_lock(&mu);
    struct job *job = first_job;
    if (job)
        first_job = job->next;
    pthread_mutex_unlock(&mu);
    if (!job)
        return;
    job->runs++;
    pthread_mutex_lock(&mu);
    job->next = first_job;
    first_job = job;
    pthread_mutex_unlock(&mu);
}

static void change_table(void)
{
    work_for(1000);
    pthread_mutex_lock(&mu);
    for (int i = 0; i < 5; i++)
        table[(count + 8L * i) % CELLS]++;
    count++;
    pthread_mutex_unlock(&mu);
}

static void count_rarely(void)
{
    work_for(200000);
    count_up();
}

static void compute_long(void)
{
    pthread_mutex_lock(&mu);
    work_for(100000);
    count++;
    pthread_mutex_unlock(&mu);
}

static void compute_for(long ns)
{
    work_for(1000);
    pthread_mutex_lock(&mu);
    work_for(ns);
    count++;
    pthread_mutex_unlock(&mu);
}

static void compute_briefly(void)
{
    compute_for(700);
}

static void compute_slowly(void)
{
    compute_for(5000);
}

static void count_widely(void)
{
    work_for(10000);
    pthread_mutex_lock(&mu);
    for (int i = 0; i < WIDE; i++)
        wide[i].count++;
    pthread_mutex_unlock(&mu);
}

static void count_seldom(void)
{
    work_for(40000);
    count_up();
}

static void count_striped(void)
{
    work_for(1000);
    static _Thread_local uint32_t random;
    random = random * 1664525 + 1013904223 + (uint32_t)(uintptr_t)&random;
    const uint32_t stripe = random >> 8 & (STRIPES - 1);
    pthread_mutex_lock(&stripes[stripe].mu);
    stripes[stripe].count++;
    pthread_mutex_unlock(&stripes[stripe].mu);
}

static const struct {
    const char *name;
    void (*step)(void);
} programs[] = {
    {"counter", count_often},  {"jobs", use_job},      {"table", change_table},
    {"brief", compute_briefly}, {"wide", count_widely}, {"rare", count_rarely},
    {"long", compute_long}, {"striped", count_striped}, {"slow", compute_slowly},
    {"seldom", count_seldom},
};

static void *work(void *step)
{
    void (*const *of)(void) = step;
    while (!stop)
        (*of)();
    return NULL;
}

int main(int words, char **word)
{
    pthread_t threads[THREADS_MOST];
    const int number = words > 2 ? atoi(word[2]) : 2;
    const double seconds = words > 3 ? atof(word[3]) : 0.5;
    void (*step)(void) = NULL;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (words > 1 && strcmp(programs[i].name, word[1]) == 0)
            step = programs[i].step;
    if (!step || number < 1 || number > THREADS_MOST)
        return 2;
    for (int i = 0; i < CELLS; i++) {
        jobs[i].next = first_job;
        first_job = &jobs[i];
    }
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripes[i].mu, NULL);
    for (int i = 0; i < number; i++)
        pthread_create(&threads[i], NULL, work, &step);
    usleep((useconds_t)(seconds * 1e6));
    stop = 1;
    for (int i = 0; i < number; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", count);
    return 0;
}
