/* SPDX-License-Identifier: MIT */
/* Painters claim tiles of a canvas under a reader-writer lock. Whoever finds it taken
 * counts that and tries again, because "a lock that sleeps is slow". The attempts cost
 * the CPU time that the holder needs. The remedy waits in the lock. */
#include "../server.h"

enum { TILES = 256, EDGE = 100000 };

static pthread_rwlock_t tiles_rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t done_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char tiles[TILES], edges[EDGE];
static uint64_t done, attempts;

static void lock_tiles(void)
{
    if (server_fix("block-instead")) {
        pthread_rwlock_wrlock(&tiles_rw);
        return;
    }
    while (pthread_rwlock_trywrlock(&tiles_rw) != 0)
        __atomic_fetch_add(&attempts, 1, __ATOMIC_RELAXED);
}

static uint64_t claim(uint64_t tile)
{
    lock_tiles();
    uint64_t seam = checksum(edges, EDGE, tiles[tile]);
    tiles[tile] = (unsigned char)(seam | 1);
    pthread_rwlock_unlock(&tiles_rw);
    return seam;
}

static void *export_tiles(void *unused)
{
    while (!server_stopping()) {
        sleep_us(9000);
        pthread_rwlock_rdlock(&tiles_rw);
        uint64_t sum = checksum(tiles, TILES, 0);
        pthread_rwlock_unlock(&tiles_rw);
        edges[sum % EDGE]++;
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t tile = random_below(request, TILES);
    request->random += claim(tile) | 1;
    request->random += checksum(edges, EDGE, tile) | 1;
    pthread_mutex_lock(&done_mu);
    done++;
    pthread_mutex_unlock(&done_mu);
    return 1;
}

static void setup(void)
{
    server_background(export_tiles, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
