/* SPDX-License-Identifier: MIT */
/* Waits for a slow backend most of the time, without holding a lock, while a pool of
 * spare workers sleeps on a condition variable. Threads sleep, but no lock is the
 * cause. */
#include "server.h"

enum { SPARE = 6 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    unsigned jobs;
} spare = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static pthread_mutex_t tokens_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t tokens[64];

static void *run_spare(void *unused)
{
    pthread_mutex_lock(&spare.lock);
    while (!server_stopping()) {
        if (spare.jobs == 0)
            pthread_cond_wait(&spare.work, &spare.lock);
        if (spare.jobs > 0)
            spare.jobs--;
    }
    pthread_mutex_unlock(&spare.lock);
    return unused;
}

static unsigned handle(struct request *request)
{
    pthread_mutex_lock(&tokens_lock);
    uint64_t token = tokens[random_below(request, 64)]++;
    pthread_mutex_unlock(&tokens_lock);
    sleep_us(1500); /* the backend */
    if (checksum(&token, sizeof token, 0) % 50 == 0) {
        pthread_mutex_lock(&spare.lock);
        spare.jobs++;
        pthread_cond_signal(&spare.work);
        pthread_mutex_unlock(&spare.lock);
    }
    return 1;
}

static void stop(void)
{
    pthread_mutex_lock(&spare.lock);
    pthread_cond_broadcast(&spare.work);
    pthread_mutex_unlock(&spare.lock);
}

static void setup(void)
{
    for (unsigned i = 0; i < SPARE; i++)
        server_background(run_spare, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
