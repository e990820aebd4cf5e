/* SPDX-License-Identifier: MIT */
/* Flow control: a sender needs a burst of credits at once, but is woken for each credit
 * that comes back, finds too few and goes to sleep again. */
#include <stdlib.h>

#include "server.h"

enum { CREDITS = 128, BURST = 96 };

struct flow {
    pthread_mutex_t mutex;
    pthread_cond_t credit, packets;
    unsigned credits, in_flight;
};

static struct flow *flow;
static pthread_mutex_t rtt_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t rtt, window[64];

static void *acknowledge(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&flow->mutex);
        while (flow->in_flight == 0 && !server_stopping())
            pthread_cond_wait(&flow->packets, &flow->mutex);
        if (flow->in_flight > 0)
            flow->in_flight--;
        flow->credits++;
        if (!server_fix("check-first") || flow->credits >= BURST)
            pthread_cond_broadcast(&flow->credit);
        pthread_mutex_unlock(&flow->mutex);
        uint64_t measured = checksum(window, sizeof window, 3);
        pthread_mutex_lock(&rtt_mutex);
        rtt = rtt / 8 * 7 + measured % 100;
        pthread_mutex_unlock(&rtt_mutex);
        server_count(1);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    (void)request;
    pthread_mutex_lock(&flow->mutex);
    while (flow->credits < BURST && !server_stopping())
        pthread_cond_wait(&flow->credit, &flow->mutex);
    if (flow->credits >= BURST) {
        flow->credits -= BURST;
        flow->in_flight += BURST;
    }
    pthread_cond_signal(&flow->packets);
    pthread_mutex_unlock(&flow->mutex);
    return 0;
}

static void stop(void)
{
    pthread_mutex_lock(&flow->mutex);
    pthread_cond_broadcast(&flow->credit);
    pthread_cond_broadcast(&flow->packets);
    pthread_mutex_unlock(&flow->mutex);
}

static void setup(void)
{
    flow = calloc(1, sizeof *flow);
    pthread_mutex_init(&flow->mutex, NULL);
    pthread_cond_init(&flow->credit, NULL);
    pthread_cond_init(&flow->packets, NULL);
    flow->credits = CREDITS;
    server_background(acknowledge, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
