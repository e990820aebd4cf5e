/* SPDX-License-Identifier: MIT */
/* A watchdog cancels a refresh of the exchange rates that takes too long. The refresh
 * had locked the rates and has no handler to unlock them, so they stay locked, and
 * every request waits for ever. */
#include "../server.h"

enum { RATES = 40 };

static struct {
    pthread_mutex_t rates_mu;
    uint64_t rates[RATES];
} exchange = {.rates_mu = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t trades_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t trades;

static void unlock_rates(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&exchange.rates_mu);
}

static void fetch_rates(unsigned milliseconds)
{
    for (unsigned i = 0; i < RATES; i++)
        exchange.rates[i]++;
    sleep_us(1000 * (long)milliseconds); /* the reply of the central bank */
}

static void *refresh(void *argument)
{
    unsigned milliseconds = *(unsigned *)argument;
    pthread_mutex_lock(&exchange.rates_mu);
    if (server_fix("release")) {
        pthread_cleanup_push(unlock_rates, NULL);
        fetch_rates(milliseconds);
        pthread_cleanup_pop(1);
    } else {
        fetch_rates(milliseconds);
        pthread_mutex_unlock(&exchange.rates_mu);
    }
    return NULL;
}

static void *watch(void *unused)
{
    for (unsigned round = 0; round < 4; round++) {
        unsigned milliseconds = round < 3 ? 1 : 5000;
        pthread_t refresher;
        sleep_us(60000);
        if (pthread_create(&refresher, NULL, refresh, &milliseconds) != 0)
            break;
        sleep_us(40000);
        pthread_cancel(refresher);
        pthread_join(refresher, NULL);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(250);
    pthread_mutex_lock(&exchange.rates_mu);
    request->random += exchange.rates[random_below(request, RATES)] | 1;
    pthread_mutex_unlock(&exchange.rates_mu);
    pthread_mutex_lock(&trades_mu);
    trades++;
    pthread_mutex_unlock(&trades_mu);
    return 1;
}

static void setup(void)
{
    server_background(watch, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", NULL};
    static const struct service service = {fixes, setup, handle, NULL, true};
    return server_main(count, words, &service);
}
