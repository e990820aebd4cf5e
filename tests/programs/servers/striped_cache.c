/* SPDX-License-Identifier: MIT */
/* A key-value cache of 16 shards. Keys are object addresses, which are multiples of 64,
 * and the hash uses their lowest bits, so most keys map to shard 0. */
#include "server.h"

enum { SHARDS = 16, SLOTS = 512, VALUE = 4000 };

struct shard {
    pthread_mutex_t lock;
    uint64_t keys[SLOTS], uses;
    char value[VALUE];
} __attribute__((aligned(128)));

static struct shard shards[SHARDS];
static pthread_mutex_t evict_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t evicted;

static struct shard *shard_of(uint64_t key)
{
    if (server_fix("spread-keys"))
        return &shards[key * 0x9e3779b97f4a7c15u >> 60];
    return &shards[key / 8 % SHARDS];
}

static uint64_t cache_get(uint64_t key)
{
    struct shard *shard = shard_of(key);
    char copy[VALUE];
    bool outside = server_fix("shorten-section");
    uint64_t sum = 0;
    pthread_mutex_lock(&shard->lock);
    shard->keys[key / 64 % SLOTS] = key;
    shard->uses++;
    if (outside)
        __builtin_memcpy(copy, shard->value, VALUE);
    else
        sum = checksum(shard->value, VALUE, key);
    pthread_mutex_unlock(&shard->lock);
    return outside ? checksum(copy, VALUE, key) : sum;
}

static unsigned handle(struct request *request)
{
    /* A fifth of the objects are on another heap, with other alignments. */
    uint64_t object = random_below(request, 1 << 20) * 64;
    uint64_t key = request->number % 5 == 0 ? object + request->number / 5 * 8 : object;
    uint64_t value = cache_get(key);
    if (value % 32 == 0) {
        pthread_mutex_lock(&evict_lock);
        evicted++;
        pthread_mutex_unlock(&evict_lock);
    }
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_init(&shards[i].lock, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "shorten-section",
                                        "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
