/* SPDX-License-Identifier: MIT */
/* All threads send their queries over one connection to a database, and each keeps
 * the connection's lock until its reply has arrived. The remedy is a connection for
 * each thread. */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

enum { CONNECTIONS = 16 };

struct link {
    pthread_mutex_t link_mu;
    int client, server;
    uint64_t queries;
};

static struct link *links;
static pthread_mutex_t plans_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t plans[64];

static unsigned link_count(void)
{
    unsigned wanted = server_threads() < CONNECTIONS ? server_threads() : CONNECTIONS;
    return server_fix("move-blocking-out") ? wanted : 1;
}

static void *answer(void *argument)
{
    struct link *link = argument;
    uint64_t query;
    while (read(link->server, &query, sizeof query) == sizeof query) {
        sleep_us(120); /* the disk */
        query = checksum(&query, sizeof query, 7);
        if (write(link->server, &query, sizeof query) != sizeof query)
            break;
    }
    return NULL;
}

static uint64_t run_query(struct link *link, uint64_t query)
{
    uint64_t reply = 0;
    pthread_mutex_lock(&link->link_mu);
    link->queries++;
    if (write(link->client, &query, sizeof query) == sizeof query)
        if (read(link->client, &reply, sizeof reply) != sizeof reply)
            reply = 0;
    pthread_mutex_unlock(&link->link_mu);
    return reply;
}

static unsigned handle(struct request *request)
{
    uint64_t plan = checksum(plans, sizeof plans, request->number) % 64;
    pthread_mutex_lock(&plans_mu);
    plans[plan]++;
    pthread_mutex_unlock(&plans_mu);
    uint64_t row = run_query(&links[request->worker % link_count()], plan);
    char page[2000] = {(char)row};
    request->random ^= checksum(page, sizeof page, row) | 1;
    return 1;
}

static void setup(void)
{
    signal(SIGPIPE, SIG_IGN);
    links = calloc(CONNECTIONS, sizeof *links);
    for (unsigned i = 0; i < link_count(); i++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            _exit(2);
        links[i].client = ends[0];
        links[i].server = ends[1];
        pthread_mutex_init(&links[i].link_mu, NULL);
        server_background(answer, &links[i]);
    }
}

static void stop(void)
{
    for (unsigned i = 0; i < link_count(); i++)
        shutdown(links[i].client, SHUT_RDWR);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
