/* SPDX-License-Identifier: MIT */
/* Transfers lock two wallets in either order, but only while they hold vault_mu, so the
 * different orders cannot cause a deadlock. */
#include "server.h"

enum { WALLETS = 16 };

struct wallet {
    pthread_mutex_t lock;
    int64_t amount;
};

static pthread_mutex_t vault_mu = PTHREAD_MUTEX_INITIALIZER;
static struct wallet wallets[WALLETS];

static void transfer(struct wallet *from, struct wallet *to)
{
    pthread_mutex_lock(&vault_mu);
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->amount--;
    to->amount++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_unlock(&vault_mu);
}

static unsigned handle(struct request *request)
{
    uint64_t from = random_below(request, WALLETS);
    uint64_t to = (from + 1 + random_below(request, WALLETS - 1)) % WALLETS;
    sleep_us(200);
    uint64_t signature = checksum(&wallets[from].amount, 8, to);
    if (signature != 1)
        transfer(&wallets[from], &wallets[to]);
    return 1;
}

static void setup(void)
{
    pthread_mutex_init(&wallets[0].lock, NULL);
    pthread_mutex_init(&wallets[1].lock, NULL);
    for (unsigned i = 2; i < WALLETS; i++)
        pthread_mutex_init(&wallets[i].lock, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
