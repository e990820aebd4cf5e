/* SPDX-License-Identifier: MIT */
/* Healthy: each thread keeps a connection to a peer and waits for its heartbeat with
 * epoll, without a lock. The table of peers is locked for an instant per heartbeat.
 * A reporter has the lock of its report for long, which nobody else wants. */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../server.h"

enum { MOST = 256 };

static pthread_mutex_t peers_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t report_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t beats[MOST], report;
static __thread int poller = -1, timer;

static void connect_peer(unsigned worker)
{
    struct itimerspec every = {{0, 700000 + 1000 * (long)worker}, {0, 100000}};
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    poller = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (timer < 0 || poller < 0 || timerfd_settime(timer, 0, &every, NULL) != 0 ||
        epoll_ctl(poller, EPOLL_CTL_ADD, timer, &event) != 0)
        abort();
}

static void *write_report(void *unused)
{
    unsigned char line[20000] = {0};
    while (!server_stopping()) {
        pthread_mutex_lock(&report_mu);
        report += checksum(line, sizeof line, report);
        sleep_us(6000);
        pthread_mutex_unlock(&report_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    if (poller < 0)
        connect_peer(request->worker);
    struct epoll_event event;
    uint64_t expirations = 0;
    if (epoll_wait(poller, &event, 1, 100) != 1 ||
        read(timer, &expirations, sizeof expirations) < 0)
        return 0;
    pthread_mutex_lock(&peers_mu);
    beats[request->worker] += expirations;
    pthread_mutex_unlock(&peers_mu);
    return 1;
}

static void setup(void)
{
    server_background(write_report, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
