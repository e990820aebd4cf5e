/* SPDX-License-Identifier: MIT */
/* Threads that share locks as the arguments say; prints operations per second.
 *
 *     what_if THREADS SECONDS OUTSIDE HOLD [LOCKS [AFTER]]
 *
 * Each operation spends OUTSIDE without a lock, HOLD with one of LOCKS mutexes, and
 * AFTER without. Times are in microseconds; `s50` sleeps, `50` computes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_LOCKS 64
#define MOST_THREADS 256

struct span {
    long ns;
    int sleeps;
};

static struct span outside, hold, after;
static int locks = 1;
static atomic_int stop;
static atomic_long done;
static struct {
    pthread_mutex_t mutex;
    char pad[128 - sizeof(pthread_mutex_t)];
} stripe[MOST_LOCKS];

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Computing is measured in CPU time, so that an interruption does not count. */
static int64_t on_cpu(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void spend(struct span span)
{
    if (span.sleeps) {
        struct timespec time = {.tv_sec = 0, .tv_nsec = span.ns};
        nanosleep(&time, NULL);
    } else if (span.ns) {
        for (int64_t end = on_cpu() + span.ns; on_cpu() < end;)
            ;
    }
}

static void operate(unsigned *seed)
{
    spend(outside);
    pthread_mutex_t *mutex = &stripe[(unsigned)rand_r(seed) % (unsigned)locks].mutex;
    pthread_mutex_lock(mutex);
    spend(hold);
    pthread_mutex_unlock(mutex);
    spend(after);
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    long mine = 0;
    while (!stop) {
        operate(&seed);
        mine++;
    }
    done += mine;
    return NULL;
}

static struct span span_of(const char *text)
{
    struct span span = {.sleeps = *text == 's'};
    span.ns = (long)(atof(text + span.sleeps) * 1000);
    return span;
}

int main(int count, char **words)
{
    if (count < 5)
        return 2;
    int threads = atoi(words[1]);
    double seconds = atof(words[2]);
    outside = span_of(words[3]);
    hold = span_of(words[4]);
    if (count > 5)
        locks = atoi(words[5]);
    if (count > 6)
        after = span_of(words[6]);
    if (threads < 1 || threads > MOST_THREADS || locks < 1 || locks > MOST_LOCKS)
        return 2;
    for (int i = 0; i < locks; i++)
        pthread_mutex_init(&stripe[i].mutex, NULL);
    pthread_t thread[MOST_THREADS];
    int64_t begin = now();
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)(i + 1));
    nanosleep(
        &(struct timespec){(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)},
        NULL);
    stop = 1;
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%.0f operations/s\n", (double)done * 1e9 / (double)(now() - begin));
    return 0;
}
