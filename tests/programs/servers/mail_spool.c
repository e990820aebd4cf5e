/* SPDX-License-Identifier: MIT */
/* A delivery thread waits for the next message without checking whether there already
 * is one. Signals sent during a delivery are lost, and the thread sleeps until the
 * time-out. */
#include <time.h>

#include "server.h"

enum { SPOOL = 256, NAP_NS = 1000000 };

static struct spool {
    pthread_mutex_t lock;
    pthread_cond_t arrived, delivered;
    uint64_t messages[SPOOL];
    unsigned first, next;
} spool;
static pthread_mutex_t aliases_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t aliases[128];

static void wait_a_little(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(condition, mutex, &until);
}

static void *deliver(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&spool.lock);
        if (!server_fix("check-first") || spool.first == spool.next)
            wait_a_little(&spool.arrived, &spool.lock);
        unsigned taken = 0;
        uint64_t message = 0;
        while (spool.first != spool.next && taken++ < 4)
            message = spool.messages[spool.first++ % SPOOL];
        if (server_fix("signal-one"))
            pthread_cond_signal(&spool.delivered);
        else
            pthread_cond_broadcast(&spool.delivered);
        pthread_mutex_unlock(&spool.lock);
        pthread_mutex_lock(&aliases_lock);
        aliases[message % 128]++;
        pthread_mutex_unlock(&aliases_lock);
        server_count(taken);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t message = checksum(aliases, sizeof aliases, request->number);
    pthread_mutex_lock(&spool.lock);
    while (spool.next - spool.first >= SPOOL && !server_stopping())
        pthread_cond_wait(&spool.delivered, &spool.lock);
    spool.messages[spool.next++ % SPOOL] = message;
    pthread_cond_signal(&spool.arrived);
    pthread_mutex_unlock(&spool.lock);
    return 0;
}

static void stop(void)
{
    pthread_mutex_lock(&spool.lock);
    pthread_cond_broadcast(&spool.arrived);
    pthread_cond_broadcast(&spool.delivered);
    pthread_mutex_unlock(&spool.lock);
}

static void setup(void)
{
    pthread_mutex_init(&spool.lock, NULL);
    pthread_cond_init(&spool.arrived, NULL);
    pthread_cond_init(&spool.delivered, NULL);
    server_background(deliver, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "signal-one", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
