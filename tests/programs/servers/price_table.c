/* SPDX-License-Identifier: MIT */
/* Quotes are read from a table that a feed recomputes while it holds the write lock. */
#include <string.h>

#include "server.h"

enum { PRICES = 8192 };

struct book {
    pthread_rwlock_t lock;
    uint32_t prices[PRICES];
};

static struct book book;
static pthread_mutex_t audit_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t audited;

static void recompute(uint32_t *prices)
{
    for (unsigned i = 0; i < PRICES; i += 8)
        prices[i] = (uint32_t)checksum(&prices[i / 2], 2000, prices[i]);
}

static void *follow_feed(void *unused)
{
    static uint32_t fresh[PRICES];
    while (!server_stopping()) {
        bool outside = server_fix("shorten-writes");
        if (outside)
            recompute(fresh);
        pthread_rwlock_wrlock(&book.lock);
        if (outside)
            memcpy(book.prices, fresh, sizeof fresh);
        else
            recompute(book.prices);
        pthread_rwlock_unlock(&book.lock);
        sleep_us(20);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    pthread_rwlock_rdlock(&book.lock);
    uint32_t price = book.prices[random_below(request, PRICES)];
    pthread_rwlock_unlock(&book.lock);
    if (checksum(&request->random, 8, checksum(&book.prices, 200, price)) % 64 == 0) {
        pthread_mutex_lock(&audit_mu);
        audited++;
        pthread_mutex_unlock(&audit_mu);
    }
    return 1;
}

static void setup(void)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&book.lock, &attributes);
    server_background(follow_feed, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
