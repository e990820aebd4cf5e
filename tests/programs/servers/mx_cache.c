/* SPDX-License-Identifier: MIT */
/* A mail server caches the exchangers of domains. An entry that has expired is asked
 * for upstream while the cache is locked, so mail to all other domains waits for the
 * reply. The busy lock of the counters does no harm. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

enum { DOMAINS = 700, LIFE = 8 };

static pthread_mutex_t mx_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t totals_mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t exchanger;
    unsigned left;
} domains[DOMAINS];
static uint64_t accepted, queued;
static int upstream[256][2];

static void *answer(void *argument)
{
    int *pair = argument;
    uint64_t question;
    while (read(pair[1], &question, sizeof question) == sizeof question) {
        sleep_us(250); /* the network */
        question = checksum(&question, sizeof question, 1);
        if (send(pair[1], &question, sizeof question, MSG_NOSIGNAL) < 0)
            break;
    }
    return NULL;
}

static uint64_t ask(unsigned worker, uint64_t domain)
{
    uint64_t reply = 0;
    if (send(upstream[worker][0], &domain, sizeof domain, MSG_NOSIGNAL) < 0 ||
        read(upstream[worker][0], &reply, sizeof reply) != sizeof reply)
        return 0;
    return reply;
}

static uint64_t exchanger_of(unsigned worker, uint64_t domain)
{
    pthread_mutex_lock(&mx_mu);
    if (domains[domain].left == 0) {
        domains[domain].left = LIFE;
        if (server_fix("move-blocking-out"))
            pthread_mutex_unlock(&mx_mu);
        uint64_t reply = ask(worker, domain);
        if (server_fix("move-blocking-out"))
            pthread_mutex_lock(&mx_mu);
        domains[domain].exchanger = reply;
    }
    domains[domain].left -= domains[domain].left > 0;
    uint64_t found = domains[domain].exchanger;
    pthread_mutex_unlock(&mx_mu);
    return found;
}

static void add(uint64_t *total)
{
    pthread_mutex_lock(&totals_mu);
    ++*total;
    pthread_mutex_unlock(&totals_mu);
}

static unsigned handle(struct request *request)
{
    char mail[1800] = {'M'};
    add(&accepted);
    uint64_t to = exchanger_of(request->worker, random_below(request, DOMAINS));
    mail[0] = (char)checksum(mail, sizeof mail, to);
    add(&queued);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < server_threads(); i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, upstream[i]) != 0) {
            perror("socketpair");
            exit(1);
        }
        if (i < 64)
            server_background(answer, upstream[i]);
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
