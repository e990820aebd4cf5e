/* SPDX-License-Identifier: MIT */
/* Renders pages from templates. On a miss it renders while it holds the cache's lock,
 * so hits on other pages wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { ENTRIES = 256, TEMPLATE = 24000, STRIPES = 8 };

struct entry {
    uint64_t key, page;
};

struct cache {
    pthread_mutex_t lock;
    struct entry entries[ENTRIES];
    uint64_t misses;
};

static struct cache *caches[STRIPES];
static pthread_mutex_t quota_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t quota[16];
static char template_text[TEMPLATE];

static uint64_t __attribute__((noinline)) render(uint64_t key)
{
    return checksum(template_text, TEMPLATE, key);
}

static uint64_t get_page(struct cache *cache, uint64_t key)
{
    struct entry *entry = &cache->entries[key % ENTRIES];
    pthread_mutex_lock(&cache->lock);
    if (entry->key != key) {
        cache->misses++;
        if (server_fix("shorten-section")) {
            pthread_mutex_unlock(&cache->lock);
            uint64_t page = render(key);
            pthread_mutex_lock(&cache->lock);
            *entry = (struct entry){key, page};
        } else {
            *entry = (struct entry){key, render(key)};
        }
    }
    uint64_t page = entry->page;
    pthread_mutex_unlock(&cache->lock);
    return page;
}

static unsigned handle(struct request *request)
{
    uint64_t user = random_below(request, 16);
    pthread_mutex_lock(&quota_lock);
    quota[user]++;
    pthread_mutex_unlock(&quota_lock);
    uint64_t key = 1 + random_below(request, 4 * ENTRIES);
    struct cache *cache = caches[server_fix("spread-keys") ? key % STRIPES : 0];
    uint64_t page = get_page(cache, key);
    return checksum(template_text, 1000, page) != 1;
}

static void setup(void)
{
    unsigned stripes = server_fix("spread-keys") ? STRIPES : 1;
    for (unsigned i = 0; i < stripes; i++) {
        caches[i] = calloc(1, sizeof *caches[i]);
        pthread_mutex_init(&caches[i]->lock, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "spread-keys",
                                        "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
