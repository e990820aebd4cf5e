/* SPDX-License-Identifier: MIT */
/* Threads fetch feeds and wait for the network, without any lock. The exporter has
 * its mutex locked nearly always, but it is the only thread that wants it. */
#include <poll.h>
#include <unistd.h>

#include "server.h"

enum { FEEDS = 100 };

static pthread_mutex_t export_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t exported;
static pthread_mutex_t feeds_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t seen[FEEDS];
static int pipes[2];

static void fetch(void)
{
    struct pollfd reply = {pipes[0], POLLIN, 0};
    poll(&reply, 1, 2); /* nothing arrives: the round trip */
}

static bool is_new(uint64_t feed, uint64_t item)
{
    pthread_mutex_lock(&feeds_mu);
    bool fresh = seen[feed] != item;
    seen[feed] = item;
    pthread_mutex_unlock(&feeds_mu);
    return fresh;
}

static void *export(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&export_mu);
        for (unsigned i = 0; i < 8 && !server_stopping(); i++)
            sleep_us(4000);
        exported++;
        pthread_mutex_unlock(&export_mu);
        sleep_us(200);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char feed[9000] = {'<'};
    fetch();
    uint64_t number = random_below(request, FEEDS);
    return is_new(number, checksum(feed, sizeof feed, request->number / 3)) ? 2 : 1;
}

static void setup(void)
{
    if (pipe(pipes) != 0)
        _exit(1);
    server_background(export, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
