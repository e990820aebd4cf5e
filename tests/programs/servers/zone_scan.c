/* SPDX-License-Identifier: MIT */
/* Requests update a zone under the write lock. Three exporters read the whole zone
 * again and again, and since their readings overlap, the lock is seldom free of
 * readers. */
#include <stdlib.h>

#include "server.h"

enum { RECORDS = 60000, EXPORTERS = 3 };

struct zone {
    pthread_rwlock_t zone_rw;
    uint64_t serial;
    uint32_t records[RECORDS];
};

static struct zone *zone;
static pthread_mutex_t peers_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t peers[4], exported;

static void *export_zone(void *unused)
{
    while (!server_stopping()) {
        pthread_rwlock_rdlock(&zone->zone_rw);
        uint64_t sum = checksum(zone->records, sizeof zone->records, zone->serial);
        pthread_rwlock_unlock(&zone->zone_rw);
        pthread_mutex_lock(&peers_mu);
        exported += sum & 1;
        pthread_mutex_unlock(&peers_mu);
        sleep_us(40);
    }
    return unused;
}

static void update(uint64_t name, uint32_t address)
{
    pthread_rwlock_wrlock(&zone->zone_rw);
    zone->records[name] = address;
    zone->serial++;
    pthread_rwlock_unlock(&zone->zone_rw);
}

static unsigned handle(struct request *request)
{
    sleep_us(100); /* the next update arrives */
    char message[300] = {'u'};
    uint64_t sum = checksum(message, sizeof message, request->random);
    update(random_below(request, RECORDS), (uint32_t)sum);
    pthread_mutex_lock(&peers_mu);
    peers[sum % 4]++;
    pthread_mutex_unlock(&peers_mu);
    return 1;
}

static void setup(void)
{
    zone = calloc(1, sizeof *zone);
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    if (server_fix("prefer-writers"))
        pthread_rwlockattr_setkind_np(&attributes,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&zone->zone_rw, &attributes);
    for (unsigned i = 0; i < EXPORTERS; i++)
        server_background(export_zone, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
