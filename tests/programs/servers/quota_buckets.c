/* SPDX-License-Identifier: MIT */
/* Quotas of customers, in a bucket for each first letter of their name. The names that
 * the shop generates all start with a "c". */
#include <stdio.h>
#include <stdlib.h>

#include "server.h"

enum { BUCKETS = 26, LEDGER = 9000 };

struct bucket {
    char ledger[LEDGER];
    pthread_mutex_t bucket_lock;
    uint64_t used;
};

static struct bucket *buckets;
static pthread_rwlock_t plans_lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t plans[4] = {10, 100, 1000, 10000};

static struct bucket *bucket_of(const char *name, size_t size)
{
    if (server_fix("spread-keys"))
        return &buckets[(checksum(name, size, 0xcbf29ce484222325u) >> 20) % BUCKETS];
    return &buckets[name[0] - 'a'];
}

static bool charge(struct bucket *bucket, uint64_t amount, uint64_t limit)
{
    pthread_mutex_lock(&bucket->bucket_lock);
    bucket->used = checksum(bucket->ledger, LEDGER, bucket->used + amount);
    bool allowed = bucket->used % 16384 < limit;
    pthread_mutex_unlock(&bucket->bucket_lock);
    return allowed;
}

static unsigned handle(struct request *request)
{
    char name[32];
    uint64_t customer = random_below(request, 100000);
    char first = customer % 10 < 9 ? 'c' : (char)('a' + customer % BUCKETS);
    int size =
        snprintf(name, sizeof name, "%c%06llu", first, (unsigned long long)customer);
    pthread_rwlock_rdlock(&plans_lock);
    uint64_t limit = plans[customer % 4];
    pthread_rwlock_unlock(&plans_lock);
    charge(bucket_of(name, (size_t)size), customer, limit);
    return 1;
}

static void setup(void)
{
    buckets = calloc(BUCKETS, sizeof *buckets);
    for (unsigned i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&buckets[i].bucket_lock, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
