/* SPDX-License-Identifier: MIT */
/* Each thread counts in a shard of its own, under a lock that no other thread takes.
 * The shards are adjacent, so several of them share a cache line. */
#include <stdlib.h>

#include "server.h"

enum { BATCH = 512, SHARDS = 256 };

struct shard {
    pthread_mutex_t lock;
    uint32_t events, errors, largest;
    uint64_t sum;
};

struct padded_shard {
    struct shard shard;
} __attribute__((aligned(128)));

static struct shard *shards;
static struct padded_shard *padded;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sum;

static unsigned handle(struct request *request)
{
    bool pad = server_fix("pad");
    unsigned i = request->worker;
    struct shard *shard = pad ? &padded[i].shard : &shards[i];
    for (unsigned n = 0; n < BATCH; n++) {
        uint64_t code = checksum(&n, sizeof n, request->number);
        pthread_mutex_lock(&shard->lock);
        shard->events++;
        shard->errors += code % 256 == 0;
        shard->sum += code % 1000;
        if (code % 1000 > shard->largest)
            shard->largest = (uint32_t)(code % 1000);
        pthread_mutex_unlock(&shard->lock);
    }
    return BATCH;
}

static void *add_up(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&sum_lock);
        for (unsigned i = 0; i < server_threads(); i++) {
            struct shard *shard = server_fix("pad") ? &padded[i].shard : &shards[i];
            pthread_mutex_lock(&shard->lock);
            sum += shard->events;
            pthread_mutex_unlock(&shard->lock);
        }
        pthread_mutex_unlock(&sum_lock);
        sleep_us(20000);
    }
    return unused;
}

static void setup(void)
{
    shards = calloc(SHARDS, sizeof *shards);
    padded = aligned_alloc(128, SHARDS * sizeof *padded);
    for (unsigned i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].lock, NULL);
        padded[i].shard = shards[i];
        pthread_mutex_init(&padded[i].shard.lock, NULL);
    }
    server_background(add_up, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
