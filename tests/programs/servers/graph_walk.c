/* SPDX-License-Identifier: MIT */
/* Recommendations by random walks through a graph far larger than the caches. Each
 * step waits for memory. The locks are used once for each walk. */
#include <stdlib.h>

#include "server.h"

enum { NODES = 1 << 24, STEPS = 4000, BUCKETS = 16 };

struct bucket {
    pthread_mutex_t bucket_mu;
    uint64_t walks;
} __attribute__((aligned(128)));

static uint32_t *next;
static struct bucket buckets[BUCKETS];
static pthread_mutex_t trending_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t trending;

static uint32_t walk(uint32_t node)
{
    for (unsigned i = 0; i < STEPS; i++)
        node = (next[node] + i) * 2654435761u % NODES;
    return node;
}

static void *age(void *unused)
{
    while (!server_stopping()) {
        sleep_us(20000);
        pthread_mutex_lock(&trending_mu);
        trending /= 2;
        pthread_mutex_unlock(&trending_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint32_t end = walk((uint32_t)random_below(request, NODES));
    struct bucket *bucket = &buckets[end % BUCKETS];
    pthread_mutex_lock(&bucket->bucket_mu);
    bucket->walks++;
    pthread_mutex_unlock(&bucket->bucket_mu);
    pthread_mutex_lock(&trending_mu);
    trending += end & 1;
    pthread_mutex_unlock(&trending_mu);
    return 1;
}

static void setup(void)
{
    next = malloc(NODES * sizeof *next);
    for (uint32_t i = 0; i < NODES; i++)
        next[i] = i * 40503u;
    for (unsigned i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&buckets[i].bucket_mu, NULL);
    server_background(age, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
