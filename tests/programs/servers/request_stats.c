/* SPDX-License-Identifier: MIT */
/* A router that counts every packet under a lock. */
#include <stdatomic.h>

#include "server.h"

enum { BATCH = 256, ROUTES = 1024 };

static struct {
    pthread_mutex_t stats_lock;
    uint64_t packets;
    _Alignas(128) atomic_ullong atomic_packets;
    _Alignas(128) pthread_rwlock_t routes_lock;
    uint32_t routes[ROUTES];
} router = {.stats_lock = PTHREAD_MUTEX_INITIALIZER,
            .routes_lock = PTHREAD_RWLOCK_INITIALIZER};

static void count_packet(void)
{
    if (server_fix("use-atomic")) {
        atomic_fetch_add_explicit(&router.atomic_packets, 1, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&router.stats_lock);
    router.packets++;
    pthread_mutex_unlock(&router.stats_lock);
}

static unsigned handle(struct request *request)
{
    uint32_t routes[16];
    pthread_rwlock_rdlock(&router.routes_lock);
    for (unsigned i = 0; i < 16; i++)
        routes[i] = router.routes[random_below(request, ROUTES)];
    pthread_rwlock_unlock(&router.routes_lock);
    unsigned long sent = 0;
    for (unsigned i = 0; i < BATCH; i++) {
        sent += checksum(routes, 8, i) & 1;
        count_packet();
    }
    return sent <= BATCH ? BATCH : 0;
}

static void *refresh_routes(void *unused)
{
    while (!server_stopping()) {
        pthread_rwlock_wrlock(&router.routes_lock);
        router.routes[0]++;
        pthread_rwlock_unlock(&router.routes_lock);
        sleep_us(10000);
    }
    return unused;
}

static void setup(void)
{
    server_background(refresh_routes, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
