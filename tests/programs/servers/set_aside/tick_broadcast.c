/* SPDX-License-Identifier: MIT */
/* Healthy: whenever a tick begins, ten strategies are woken by one broadcast, and each
 * of them has work: it evaluates the new prices without a lock. The serving threads
 * prepare prices. What everybody waits for is the CPU time of the strategies. */
#include "../server.h"

enum { STRATEGIES = 10, PRICES = 60000 };

static struct {
    pthread_mutex_t tick_mu;
    pthread_cond_t begun, ended;
    uint64_t tick;
    unsigned busy;
} market = {
    .tick_mu = PTHREAD_MUTEX_INITIALIZER,
    .begun = PTHREAD_COND_INITIALIZER,
    .ended = PTHREAD_COND_INITIALIZER,
};

static unsigned char prices[PRICES];
static pthread_mutex_t feed_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t feed;

static void *evaluate(void *unused)
{
    uint64_t seen = 0, value = 1;
    pthread_mutex_lock(&market.tick_mu);
    for (;;) {
        while (market.tick == seen && !server_stopping())
            pthread_cond_wait(&market.begun, &market.tick_mu);
        if (server_stopping())
            break;
        seen = market.tick;
        pthread_mutex_unlock(&market.tick_mu);
        for (unsigned pass = 0; pass < 8; pass++)
            value = checksum(prices, PRICES, value);
        server_count(1);
        pthread_mutex_lock(&market.tick_mu);
        if (--market.busy == 0)
            pthread_cond_signal(&market.ended);
    }
    pthread_cond_signal(&market.ended);
    pthread_mutex_unlock(&market.tick_mu);
    return unused;
}

static void *run_ticks(void *unused)
{
    pthread_mutex_lock(&market.tick_mu);
    while (!server_stopping()) {
        market.tick++;
        market.busy = STRATEGIES;
        pthread_cond_broadcast(&market.begun);
        while (market.busy > 0 && !server_stopping())
            pthread_cond_wait(&market.ended, &market.tick_mu);
    }
    pthread_mutex_unlock(&market.tick_mu);
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(3000); /* the exchange */
    pthread_mutex_lock(&feed_mu);
    feed += request->number;
    pthread_mutex_unlock(&feed_mu);
    return 0;
}

static void wake_all(void)
{
    pthread_mutex_lock(&market.tick_mu);
    pthread_cond_broadcast(&market.begun);
    pthread_cond_broadcast(&market.ended);
    pthread_mutex_unlock(&market.tick_mu);
}

static void setup(void)
{
    for (unsigned i = 0; i < STRATEGIES; i++)
        server_background(evaluate, NULL);
    server_background(run_ticks, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, wake_all, false};
    return server_main(count, words, &service);
}
