/* SPDX-License-Identifier: MIT */
/* A buffer pool with the clock algorithm. Each access to a page sets the page's bit
 * in a bitmap, and the whole bitmap has one lock. */
#include <stdatomic.h>

#include "server.h"

enum { PAGES = 4096, BATCH = 64 };

static struct pool {
    pthread_mutex_t touched_mu;
    _Alignas(64) _Atomic uint64_t touched[PAGES / 64];
} pool = {.touched_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t dirty_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t dirty, evicted;

static void touch(uint64_t page)
{
    _Atomic uint64_t *word = &pool.touched[page / 64];
    uint64_t bit = 1ull << page % 64;
    if (server_fix("use-atomic")) {
        if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
            atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&pool.touched_mu);
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, old | bit, memory_order_relaxed);
    pthread_mutex_unlock(&pool.touched_mu);
}

static void *sweep(void *unused)
{
    for (unsigned hand = 0; !server_stopping(); hand++) {
        pthread_mutex_lock(&pool.touched_mu);
        uint64_t old = atomic_exchange(&pool.touched[hand % (PAGES / 64)], 0);
        pthread_mutex_unlock(&pool.touched_mu);
        evicted += (uint64_t)__builtin_popcountll(~old);
        sleep_us(2000);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    for (unsigned i = 0; i < BATCH; i++) {
        uint64_t page = random_below(request, PAGES);
        touch(checksum(&page, 3, page) % PAGES);
    }
    if (request->number % 128 == 0) {
        pthread_mutex_lock(&dirty_mu);
        dirty++;
        pthread_mutex_unlock(&dirty_mu);
    }
    return BATCH;
}

static void setup(void)
{
    server_background(sweep, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
