/* SPDX-License-Identifier: MIT */
/* A storage engine with two background compactors for each serving thread. There are
 * many more threads than CPUs, so a compactor often loses its CPU while it holds
 * manifest_mu, and every request waits until it runs again. */
#include "server.h"

enum { LEVELS = 8, TABLE = 400000 };

static pthread_mutex_t manifest_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t wal_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t manifest[4096], versions, wal_bytes;
static char table[TABLE];

static void *compact(void *argument)
{
    uint64_t sum = 0;
    while (!server_stopping()) {
        sum = checksum(table, TABLE, sum);
        pthread_mutex_lock(&manifest_mu);
        manifest[sum % 4096] = checksum(manifest, sizeof manifest, sum);
        versions++;
        pthread_mutex_unlock(&manifest_mu);
    }
    return argument;
}

static unsigned handle(struct request *request)
{
    sleep_us(100); /* the client's next request */
    pthread_mutex_lock(&manifest_mu);
    uint64_t version = manifest[random_below(request, 4096)];
    pthread_mutex_unlock(&manifest_mu);
    uint64_t size = checksum(table, 500, version) % 512;
    pthread_mutex_lock(&wal_mu);
    wal_bytes += size;
    pthread_mutex_unlock(&wal_mu);
    return 1;
}

static void setup(void)
{
    unsigned tasks = server_fix("fewer-threads") ? 1 : 2 * server_threads();
    for (unsigned i = 0; i < tasks; i++)
        server_background(compact, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
