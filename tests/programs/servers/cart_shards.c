/* SPDX-License-Identifier: MIT */
/* Shopping carts are spread over 32 shards by the low bits of their numbers. Most
 * numbers were allotted by a front end that counts in steps of 64, so one shard gets
 * them all. All requests also lock the revenue, which matters much less. */
#include <stdlib.h>

#include "server.h"

enum { SHARDS = 32, CARTS = 4096, STEP = 64, ITEMS = 9000 };

struct shard {
    pthread_mutex_t shard_mu;
    unsigned char items[ITEMS];
} __attribute__((aligned(128)));

static struct shard *shards;
static pthread_mutex_t revenue_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t revenue;

static struct shard *shard_of(uint64_t cart)
{
    if (server_fix("spread-keys"))
        cart = cart * 0x9e3779b97f4a7c15u >> 40;
    return &shards[cart % SHARDS];
}

static uint64_t add_item(uint64_t cart, uint64_t item)
{
    struct shard *shard = shard_of(cart);
    pthread_mutex_lock(&shard->shard_mu);
    uint64_t total = checksum(shard->items, ITEMS, cart);
    shard->items[item % ITEMS]++;
    pthread_mutex_unlock(&shard->shard_mu);
    return total;
}

static void book(uint64_t amount)
{
    if (server_fix("use-atomic")) {
        __atomic_fetch_add(&revenue, amount, __ATOMIC_RELAXED);
        return;
    }
    pthread_mutex_lock(&revenue_mu);
    revenue += amount;
    pthread_mutex_unlock(&revenue_mu);
}

static unsigned handle(struct request *request)
{
    char session[2000] = {'c'};
    uint64_t cart = random_below(request, CARTS);
    cart = cart % 10 == 0 ? cart : cart * STEP;
    uint64_t item = checksum(session, sizeof session, cart);
    book(add_item(cart, item) % 1000);
    return 1;
}

static void setup(void)
{
    shards = aligned_alloc(128, SHARDS * sizeof *shards);
    for (unsigned i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].shard_mu, NULL);
        for (unsigned n = 0; n < ITEMS; n++)
            shards[i].items[n] = (unsigned char)(i + n);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "use-atomic", "fewer-threads",
                                        NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
