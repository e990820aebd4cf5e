/* SPDX-License-Identifier: MIT */
/* One thread writes prices, as fast as it gets the lock. Requests value a portfolio
 * under the read lock, and there is nearly always one that does. */
#include "server.h"

enum { PAPERS = 12000 };

static struct feed {
    pthread_rwlock_t feed_rw;
    uint64_t prices[PAPERS];
} feed;

static void *write_prices(void *unused)
{
    for (uint64_t i = 0; !server_stopping(); i++) {
        pthread_rwlock_wrlock(&feed.feed_rw);
        feed.prices[i % PAPERS] = i;
        pthread_rwlock_unlock(&feed.feed_rw);
        server_count(1);
        sleep_us(30); /* the next price */
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    pthread_rwlock_rdlock(&feed.feed_rw);
    request->random += checksum(feed.prices, sizeof feed.prices, request->number);
    pthread_rwlock_unlock(&feed.feed_rw);
    return 0;
}

static void setup(void)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    if (server_fix("prefer-writers"))
        pthread_rwlockattr_setkind_np(&attributes,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&feed.feed_rw, &attributes);
    server_background(write_prices, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
