/* SPDX-License-Identifier: MIT */
/* Four strategies of a trading engine follow the prices under a spin lock that the
 * serving threads take as well. There are more of them than CPUs. */
#include "server.h"

enum { SYMBOLS = 200, STRATEGIES = 4 };

static struct engine {
    pthread_spinlock_t prices_spin;
    uint64_t prices[SYMBOLS];
} engine;
static pthread_mutex_t prices_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t trades_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t trades, seen[STRATEGIES * 8];

static void lock_prices(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_lock(&prices_mutex);
    else
        pthread_spin_lock(&engine.prices_spin);
}

static void unlock_prices(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_unlock(&prices_mutex);
    else
        pthread_spin_unlock(&engine.prices_spin);
}

static uint64_t read_prices(uint64_t value)
{
    lock_prices();
    value = checksum(engine.prices, sizeof engine.prices, value);
    unlock_prices();
    return value;
}

static void *follow(void *argument)
{
    uint64_t *own = argument, value = 1;
    char model[3000] = {'m'};
    while (!server_stopping()) {
        value = checksum(model, sizeof model, read_prices(value));
        *own = value;
        server_count(1);
    }
    return NULL;
}

static unsigned handle(struct request *request)
{
    char order[2500] = {'o'};
    uint64_t amount = checksum(order, sizeof order, request->random);
    amount ^= read_prices(amount);
    if (amount % 128 == 0) {
        pthread_mutex_lock(&trades_mu);
        trades++;
        pthread_mutex_unlock(&trades_mu);
    }
    return 1;
}

static void setup(void)
{
    pthread_spin_init(&engine.prices_spin, PTHREAD_PROCESS_PRIVATE);
    unsigned strategies = server_fix("fewer-threads") ? 1 : STRATEGIES;
    for (unsigned i = 0; i < strategies; i++)
        server_background(follow, &seen[i * 8]);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
