/* SPDX-License-Identifier: MIT */
/* Lookups read a routing table nearly all the time, so updates from neighbours seldom
 * get the lock. The program counts the updates that were applied. */
#include <string.h>

#include "server.h"

enum { ROUTES = 4096, UPDATES = 32 };

static pthread_rwlock_t table_lock;
static pthread_mutex_t arp_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_hop[ROUTES];
static uint64_t arp[64];

static unsigned handle(struct request *request)
{
    uint64_t found = 0;
    pthread_rwlock_rdlock(&table_lock);
    for (unsigned i = 0; i < 8; i++)
        found += checksum(&next_hop[random_below(request, ROUTES - 1000)], 2000, i);
    pthread_rwlock_unlock(&table_lock);
    pthread_mutex_lock(&arp_lock);
    arp[found % 64]++;
    pthread_mutex_unlock(&arp_lock);
    return 0;
}

static void *apply_updates(void *unused)
{
    struct request source = {0, 0, 77};
    while (!server_stopping()) {
        pthread_rwlock_wrlock(&table_lock);
        for (unsigned i = 0; i < UPDATES; i++)
            next_hop[random_below(&source, ROUTES)]++;
        pthread_rwlock_unlock(&table_lock);
        server_count(UPDATES);
        sleep_us(200);
    }
    return unused;
}

static void setup(void)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    if (server_fix("prefer-writers"))
        pthread_rwlockattr_setkind_np(&attributes,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&table_lock, &attributes);
    server_background(apply_updates, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
