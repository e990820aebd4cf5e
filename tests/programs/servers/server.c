/* SPDX-License-Identifier: MIT */
/* Implements the framework of server.h: command line, threads, time and figures. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum { THREADS_MOST = 256, TASKS_MOST = 64, BUCKETS = 512 };

struct worker {
    struct request request;
    uint64_t operations;
    uint32_t latency[BUCKETS]; /* eight buckets for each power of two of nanoseconds */
    pthread_t thread;
} __attribute__((aligned(128)));

static const struct service *served;
static const char *fix = "none";
static unsigned threads = 4, tasks;
static double seconds = 1;
static atomic_bool stopping;
static atomic_ullong background_operations;
static struct worker workers[THREADS_MOST];
static pthread_t task_threads[TASKS_MOST];

bool server_fix(const char *remedy)
{
    return strcmp(fix, remedy) == 0;
}

unsigned server_threads(void)
{
    return threads;
}

bool server_stopping(void)
{
    return atomic_load_explicit(&stopping, memory_order_relaxed);
}

void server_count(uint64_t operations)
{
    atomic_fetch_add_explicit(&background_operations, operations, memory_order_relaxed);
}

static void fail(const char *message, const char *word)
{
    fprintf(stderr, "%s: %s %s\n", program_invocation_short_name, message, word);
    exit(2);
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    if (pthread_create(thread, NULL, body, argument) != 0)
        fail("cannot start", "a thread");
}

void server_background(void *(*task)(void *), void *argument)
{
    if (tasks == TASKS_MOST)
        fail("too many", "background tasks");
    start(&task_threads[tasks++], task, argument);
}

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sleep_us(long microseconds)
{
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

uint64_t random_below(struct request *request, uint64_t below)
{
    request->random ^= request->random << 13;
    request->random ^= request->random >> 7;
    request->random ^= request->random << 17;
    return (request->random >> 32) * below >> 32;
}

uint64_t checksum(const void *data, size_t size, uint64_t value)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        value = (value ^ bytes[i]) * 0x100000001b3u;
    return value;
}

static unsigned bucket_of(uint64_t ns)
{
    if (ns < 8)
        return (unsigned)ns;
    unsigned power = 63 - (unsigned)__builtin_clzll(ns);
    return power * 8 + (unsigned)(ns >> (power - 3) & 7);
}

static uint64_t bucket_ns(unsigned bucket)
{
    return bucket < 8 ? bucket : (uint64_t)(8 + bucket % 8) << (bucket / 8 - 3);
}

static void *serve(void *argument)
{
    struct worker *worker = argument;
    while (!server_stopping()) {
        uint64_t began = now_ns();
        worker->operations += served->handle(&worker->request);
        worker->request.number++;
        worker->latency[bucket_of(now_ns() - began)]++;
    }
    return NULL;
}

static void print_figures(double took)
{
    static uint64_t sum[BUCKETS];
    uint64_t operations = atomic_load(&background_operations), requests = 0, seen = 0;
    for (unsigned i = 0; i < threads; i++) {
        operations += workers[i].operations;
        for (unsigned n = 0; n < BUCKETS; n++) {
            sum[n] += workers[i].latency[n];
            requests += workers[i].latency[n];
        }
    }
    unsigned last = 0;
    while (last + 1 < BUCKETS && (seen += sum[last]) * 100 < requests * 99)
        last++;
    printf("ops/s: %.1f\np99: %llu ns\n", (double)operations / took,
           (unsigned long long)bucket_ns(last));
    fflush(stdout);
}

static void parse(int count, char **words)
{
    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count)
            fail("no value after", words[i]);
        if (strcmp(words[i], "--threads") == 0)
            threads = (unsigned)atoi(words[i + 1]);
        else if (strcmp(words[i], "--seconds") == 0)
            seconds = atof(words[i + 1]);
        else if (strcmp(words[i], "--fix") == 0)
            fix = words[i + 1];
        else
            fail("unknown option", words[i]);
    }
    if (threads < 1 || threads > THREADS_MOST || !(seconds > 0))
        fail("--threads takes 1 to 256, --seconds", "a positive number");
    bool known = server_fix("none");
    for (const char *const *name = served->fixes; *name; name++)
        known = known || server_fix(*name);
    if (!known)
        fail("has no fix", fix);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (server_fix("fewer-threads") && threads > cpus)
        threads = (unsigned)cpus;
}

/* A thread that does not end within two seconds hangs, which is the fault of some
 * programs. */
static void join(pthread_t thread)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += served->hangs ? 0 : 20;
    until.tv_nsec = served->hangs ? 999999999 : 0;
    if (pthread_timedjoin_np(thread, NULL, &until) == 0)
        return;
    if (!served->hangs)
        fprintf(stderr, "%s: a thread hangs\n", program_invocation_short_name);
    fflush(NULL);
    _exit(served->hangs ? 0 : 3);
}

int server_main(int count, char **words, const struct service *service)
{
    served = service;
    parse(count, words);
    if (service->setup)
        service->setup();
    uint64_t began = now_ns();
    for (unsigned i = 0; i < threads; i++) {
        workers[i].request = (struct request){i, 0, 0x9e3779b97f4a7c15u * (i + 1)};
        start(&workers[i].thread, serve, &workers[i]);
    }
    sleep_us((long)(seconds * 1e6));
    atomic_store(&stopping, true);
    print_figures((double)(now_ns() - began) / 1e9);
    if (service->stop)
        service->stop();
    for (unsigned i = 0; i < threads; i++)
        join(workers[i].thread);
    for (unsigned i = 0; i < tasks; i++)
        join(task_threads[i]);
    return 0;
}
