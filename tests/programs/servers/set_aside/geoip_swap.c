/* SPDX-License-Identifier: MIT */
/* A table of address ranges is brought up to date several times in a second. The
 * thread that does it parses the new ranges with the table locked for writing, and
 * lookups wait for that. The remedy parses first and locks for the copy. */
#include <string.h>

#include "../server.h"

enum { RANGES = 2000, LINE = 400 };

static pthread_rwlock_t ranges_rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t misses_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ranges[RANGES], misses;
static const unsigned char line[LINE];

static void parse(uint64_t *into, uint64_t version)
{
    for (unsigned i = 0; i < RANGES; i++)
        into[i] = checksum(line, LINE, version + i) & 0xffffffffu;
}

static void update(uint64_t version)
{
    static uint64_t fresh[RANGES];
    bool early = server_fix("shorten-writes");
    if (early)
        parse(fresh, version);
    pthread_rwlock_wrlock(&ranges_rw);
    if (early)
        memcpy(ranges, fresh, sizeof fresh);
    else
        parse(ranges, version);
    pthread_rwlock_unlock(&ranges_rw);
}

static void *follow_feed(void *unused)
{
    for (uint64_t version = 1; !server_stopping(); version++) {
        update(version);
        sleep_us(500);
    }
    return unused;
}

static uint64_t country_of(uint64_t address)
{
    uint64_t best = 0;
    pthread_rwlock_rdlock(&ranges_rw);
    for (unsigned i = 0; i < 64; i++)
        best += ranges[(address + i * 31) % RANGES] > address;
    pthread_rwlock_unlock(&ranges_rw);
    return best;
}

static unsigned handle(struct request *request)
{
    unsigned char packet[2000] = {0};
    sleep_us(30); /* the network */
    uint64_t country = country_of(random_below(request, 1u << 30));
    if (country == 0) {
        pthread_mutex_lock(&misses_mu);
        misses++;
        pthread_mutex_unlock(&misses_mu);
    }
    request->random += checksum(packet, sizeof packet, country) | 1;
    return 1;
}

static void setup(void)
{
    parse(ranges, 0);
    server_background(follow_feed, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
