/* SPDX-License-Identifier: MIT */
/* A firewall keeps its flows in 64 buckets with a lock each, found by the lowest bits
 * of the port. A load balancer in front of it uses ports that are multiples of 64, so
 * most flows are in one bucket. */
#include <stdlib.h>

#include "../server.h"

enum { BUCKETS = 64, DEPTH = 40 };

struct bucket {
    pthread_mutex_t flow_mu;
    uint64_t flows[DEPTH];
} __attribute__((aligned(64)));

static struct bucket *table;
static pthread_mutex_t drops_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t drops;

static unsigned bucket_of(uint64_t port)
{
    if (server_fix("spread-keys"))
        return (unsigned)(port * 0x9e3779b97f4a7c15u >> 58);
    return (unsigned)(port % BUCKETS);
}

static uint64_t track(uint64_t port, const unsigned char *packet, size_t size)
{
    struct bucket *bucket = &table[bucket_of(port)];
    pthread_mutex_lock(&bucket->flow_mu);
    uint64_t state = checksum(packet, size, bucket->flows[port % DEPTH]);
    bucket->flows[port % DEPTH] = state;
    pthread_mutex_unlock(&bucket->flow_mu);
    return state;
}

static unsigned handle(struct request *request)
{
    unsigned char packet[1400] = {0};
    uint64_t port = random_below(request, 1000) * 64;
    if (request->number % 12 == 0)
        port += random_below(request, 64);
    uint64_t state = track(port, packet, sizeof packet);
    if (state % 16 == 0) {
        pthread_mutex_lock(&drops_mu);
        drops++;
        pthread_mutex_unlock(&drops_mu);
    }
    request->random += checksum(packet, 200, state) | 1;
    return 1;
}

static void setup(void)
{
    table = aligned_alloc(64, BUCKETS * sizeof *table);
    for (unsigned i = 0; i < BUCKETS; i++) {
        table[i] = (struct bucket){.flows = {i}};
        pthread_mutex_init(&table[i].flow_mu, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
