/* SPDX-License-Identifier: MIT */
/* Packet buffers come from a pool under a spin lock, which is searched for a buffer of
 * the right class. Five capture threads use the pool beside the serving threads, so
 * there are always more threads than CPUs, and the holder is often not running. */
#include "../server.h"

enum { CLASSES = 3000, CAPTURES = 5 };

static struct {
    pthread_spinlock_t pool_spin;
    uint64_t used[CLASSES];
} pool;

static pthread_mutex_t pool_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t ports_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ports[8];

static uint64_t get_buffer(uint64_t size)
{
    bool sleeping = server_fix("use-mutex");
    if (sleeping)
        pthread_mutex_lock(&pool_mu);
    else
        pthread_spin_lock(&pool.pool_spin);
    unsigned best = 0;
    for (unsigned i = 0; i < CLASSES; i++)
        if ((pool.used[i] ^ size) < (pool.used[best] ^ size))
            best = i;
    pool.used[best] += size;
    if (sleeping)
        pthread_mutex_unlock(&pool_mu);
    else
        pthread_spin_unlock(&pool.pool_spin);
    return best;
}

static void *capture(void *unused)
{
    unsigned char packet[15000] = {0};
    for (uint64_t size = 64; !server_stopping(); size = size * 5 % 1500) {
        packet[0] += (unsigned char)get_buffer(size);
        packet[1] += (unsigned char)checksum(packet, sizeof packet, size);
        server_count(1);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    unsigned char packet[15000] = {0};
    uint64_t buffer = get_buffer(random_below(request, 1500));
    request->random += checksum(packet, sizeof packet, buffer) | 1;
    if (request->number % 50 == 0) {
        pthread_mutex_lock(&ports_mu);
        ports[request->worker % 8]++;
        pthread_mutex_unlock(&ports_mu);
    }
    return 1;
}

static void setup(void)
{
    pthread_spin_init(&pool.pool_spin, PTHREAD_PROCESS_PRIVATE);
    unsigned captures = server_fix("fewer-threads") ? 1 : CAPTURES;
    for (unsigned i = 0; i < captures; i++)
        server_background(capture, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
