/* SPDX-License-Identifier: MIT */
/* A table that is read without a lock. Its header, which every lookup reads, is in one
 * cache line with the mutex of the table's statistics, which a sampler updates all the
 * time. */
#include <stdatomic.h>
#include <stdlib.h>

#include "server.h"

enum { ENTRIES = 256, BATCH = 2400 };

struct statistics {
    pthread_mutex_t statistics_mu;
    uint64_t lookups;
};

struct table {
    _Alignas(64) _Atomic(uint32_t *) entries;
    atomic_uint mask;
    union {
        struct statistics near;
        struct {
            char gap[192];
            struct statistics far;
        };
    };
};

static struct table *table;
static pthread_mutex_t resize_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t resizes, lookups_then;

static struct statistics *statistics(void)
{
    return server_fix("pad") ? &table->far : &table->near;
}

static uint32_t look_up(uint32_t key)
{
    unsigned mask = atomic_load_explicit(&table->mask, memory_order_acquire);
    return atomic_load_explicit(&table->entries, memory_order_acquire)[key & mask];
}

static void *resize(void *unused)
{
    struct statistics *own = statistics();
    while (!server_stopping()) {
        pthread_mutex_lock(&own->statistics_mu);
        uint64_t lookups = own->lookups;
        pthread_mutex_unlock(&own->statistics_mu);
        pthread_mutex_lock(&resize_mu);
        resizes += lookups > 2 * lookups_then;
        lookups_then = lookups;
        pthread_mutex_unlock(&resize_mu);
        sleep_us(2000);
    }
    return unused;
}

static void *sample(void *unused)
{
    struct statistics *own = statistics();
    while (!server_stopping()) {
        pthread_mutex_lock(&own->statistics_mu);
        own->lookups++;
        pthread_mutex_unlock(&own->statistics_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint32_t key = (uint32_t)request->random + (uint32_t)request->number;
    for (unsigned i = 0; i < BATCH; i++)
        key += look_up(key);
    request->random += key;
    return BATCH;
}

static void setup(void)
{
    uint32_t *entries = calloc(ENTRIES, sizeof *entries);
    for (uint32_t i = 0; i < ENTRIES; i++)
        entries[i] = i * 2654435761u;
    table = aligned_alloc(64, sizeof *table);
    atomic_store(&table->entries, entries);
    atomic_store(&table->mask, ENTRIES - 1);
    pthread_mutex_init(&statistics()->statistics_mu, NULL);
    server_background(resize, NULL);
    server_background(sample, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
