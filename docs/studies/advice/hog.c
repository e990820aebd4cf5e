/* SPDX-License-Identifier: MIT */
/* Requests beside a background job. One thread runs a long job in sections of 2 ms and
 * takes the lock again at once; the others serve short requests under the same lock.
 * Prints the requests per second.
 *
 *   hog THREADS SECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_THREADS = 256, JOB_NS = 2000000, REQUEST_NS = 2000, THINK_NS = 50000 };

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int stopping;

struct server {
    pthread_t thread;
    unsigned long requests;
    char own_line[64];
};

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void work(long long ns)
{
    for (long long end = now_ns() + ns; now_ns() < end;)
        continue;
}

static int running(void)
{
    return !__atomic_load_n(&stopping, __ATOMIC_RELAXED);
}

static void *serve(void *argument)
{
    struct server *own = argument;
    while (running()) {
        pthread_mutex_lock(&table);
        work(REQUEST_NS);
        pthread_mutex_unlock(&table);
        own->requests++;
        work(THINK_NS);
    }
    return NULL;
}

static void *run_job(void *argument)
{
    (void)argument;
    while (running()) {
        pthread_mutex_lock(&table);
        work(JOB_NS);
        pthread_mutex_unlock(&table);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    static struct server servers[MOST_THREADS];
    int threads = count > 1 ? atoi(arguments[1]) : 2;
    double seconds = count > 2 ? atof(arguments[2]) : 1;
    if (threads < 2 || threads > MOST_THREADS || seconds <= 0) {
        fprintf(stderr, "usage: hog THREADS SECONDS, with 2 to 256 threads\n");
        return 2;
    }
    pthread_t job;
    pthread_create(&job, NULL, run_job, NULL);
    for (int i = 1; i < threads; i++)
        pthread_create(&servers[i].thread, NULL, serve, &servers[i]);
    struct timespec length = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&length, NULL);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    unsigned long requests = 0;
    for (int i = 1; i < threads; i++) {
        pthread_join(servers[i].thread, NULL);
        requests += servers[i].requests;
    }
    pthread_join(job, NULL);
    printf("requests/s: %.0f\n", (double)requests / seconds);
    return 0;
}
