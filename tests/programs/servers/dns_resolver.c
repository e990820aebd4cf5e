/* SPDX-License-Identifier: MIT */
/* A caching resolver. On a miss it asks the upstream server while it holds the zone's
 * lock, so lookups of cached names in that zone wait for the network. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

enum { NAMES = 512, TTL = 40, SERVERS = 256 };

struct zone {
    pthread_mutex_t guard;
    uint64_t address[NAMES];
    unsigned age[NAMES];
};

/* Each serving thread has an upstream server of its own. */
static int upstream[SERVERS][2];

static struct zone *zone;
static pthread_mutex_t clients_guard;
static uint64_t clients[32];

static void *answer_queries(void *own_socket)
{
    int own = *(int *)own_socket;
    uint64_t query;
    while (recv(own, &query, sizeof query, 0) == sizeof query) {
        sleep_us(250);
        query = checksum(&query, sizeof query, 7);
        if (send(own, &query, sizeof query, MSG_NOSIGNAL) < 0)
            break;
    }
    return NULL;
}

static uint64_t query_upstream(unsigned server, uint64_t name)
{
    uint64_t answer = 0;
    if (send(upstream[server][0], &name, sizeof name, MSG_NOSIGNAL) > 0 &&
        recv(upstream[server][0], &answer, sizeof answer, 0) <= 0)
        return 0;
    return answer;
}

static uint64_t resolve(unsigned server, uint64_t name)
{
    pthread_mutex_lock(&zone->guard);
    if (zone->age[name]++ % TTL == 0) {
        if (server_fix("move-blocking-out")) {
            pthread_mutex_unlock(&zone->guard);
            uint64_t found = query_upstream(server, name);
            pthread_mutex_lock(&zone->guard);
            zone->address[name] = found;
        } else {
            zone->address[name] = query_upstream(server, name);
        }
    }
    uint64_t address = zone->address[name];
    pthread_mutex_unlock(&zone->guard);
    return address;
}

static unsigned handle(struct request *request)
{
    /* A few clients ask for many names. */
    uint64_t client = random_below(request, 32);
    pthread_mutex_lock(&clients_guard);
    clients[client]++;
    pthread_mutex_unlock(&clients_guard);
    uint64_t address = resolve(request->worker, random_below(request, NAMES));
    return checksum(clients, sizeof clients, address) != 1;
}

static void setup(void)
{
    zone = calloc(1, sizeof *zone);
    pthread_mutex_init(&zone->guard, NULL);
    pthread_mutex_init(&clients_guard, NULL);
    for (unsigned i = 0; i < server_threads(); i++) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, upstream[i]) != 0)
            exit(1);
        server_background(answer_queries, &upstream[i][1]);
    }
}

static void stop(void)
{
    for (unsigned i = 0; i < server_threads(); i++)
        shutdown(upstream[i][0], SHUT_RDWR);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
