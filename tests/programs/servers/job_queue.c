/* SPDX-License-Identifier: MIT */
/* Jobs are short and arrive one at a time, but each of them wakes every worker of the
 * pool. */
#include "server.h"

enum { RING = 64, POOL = 48 };

static struct {
    pthread_mutex_t mu;
    pthread_cond_t not_empty, not_full;
    uint64_t ring[RING];
    unsigned head, tail;
} queue = {.mu = PTHREAD_MUTEX_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t results_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t results[16];

static void push(uint64_t job)
{
    pthread_mutex_lock(&queue.mu);
    while (queue.tail - queue.head == RING && !server_stopping())
        pthread_cond_wait(&queue.not_full, &queue.mu);
    queue.ring[queue.tail++ % RING] = job;
    if (server_fix("signal-one"))
        pthread_cond_signal(&queue.not_empty);
    else
        pthread_cond_broadcast(&queue.not_empty);
    pthread_mutex_unlock(&queue.mu);
}

static void *run_jobs(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&queue.mu);
        while (queue.head == queue.tail && !server_stopping())
            pthread_cond_wait(&queue.not_empty, &queue.mu);
        if (server_stopping()) {
            pthread_mutex_unlock(&queue.mu);
            return unused;
        }
        uint64_t job = queue.ring[queue.head++ % RING];
        pthread_cond_signal(&queue.not_full);
        pthread_mutex_unlock(&queue.mu);
        uint64_t result = checksum(results, sizeof results, job);
        pthread_mutex_lock(&results_mu);
        results[job % 16] = result;
        pthread_mutex_unlock(&results_mu);
        server_count(1);
    }
}

/* The threads that serve connections produce the jobs, a few at a time. */
static unsigned handle(struct request *request)
{
    uint64_t job = checksum(request, sizeof *request, request->number);
    push(job);
    sleep_us(20);
    return 0;
}

static void stop(void)
{
    pthread_mutex_lock(&queue.mu);
    pthread_cond_broadcast(&queue.not_empty);
    pthread_cond_broadcast(&queue.not_full);
    pthread_mutex_unlock(&queue.mu);
}

static void setup(void)
{
    unsigned pool = server_fix("fewer-threads") ? 2 : POOL;
    for (unsigned i = 0; i < pool; i++)
        server_background(run_jobs, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
