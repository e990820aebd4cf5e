/* SPDX-License-Identifier: MIT */
/* Each bin of a warehouse has a mutex, but whoever picks from a bin also keeps the
 * mutex of the site that lists the bins. The counter of orders has some waiting of
 * its own. */
#include <stdlib.h>

#include "server.h"

enum { BINS = 40, STOCK = 7000 };

struct bin {
    pthread_mutex_t bin_mu;
    unsigned char stock[STOCK];
};

static struct site {
    pthread_mutex_t site_mu;
    struct bin *bins[BINS];
} site = {.site_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t orders_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t orders;

static uint64_t pick(struct bin *bin, uint64_t article)
{
    pthread_mutex_lock(&bin->bin_mu);
    uint64_t shelf = checksum(bin->stock, STOCK, article);
    bin->stock[shelf % STOCK]--;
    pthread_mutex_unlock(&bin->bin_mu);
    return shelf;
}

static uint64_t fulfil(uint64_t number, uint64_t article)
{
    bool unnest = server_fix("unnest");
    pthread_mutex_lock(&site.site_mu);
    struct bin *bin = site.bins[number];
    if (unnest)
        pthread_mutex_unlock(&site.site_mu);
    uint64_t shelf = pick(bin, article);
    if (!unnest)
        pthread_mutex_unlock(&site.site_mu);
    return shelf;
}

static unsigned handle(struct request *request)
{
    char label[1200] = {'L'};
    uint64_t shelf = fulfil(random_below(request, BINS), request->number);
    for (unsigned i = 0; i < 4; i++) {
        pthread_mutex_lock(&orders_mu);
        orders += shelf % 3;
        pthread_mutex_unlock(&orders_mu);
        shelf = checksum(label, sizeof label / 4, shelf);
    }
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < BINS; i++) {
        site.bins[i] = calloc(1, sizeof *site.bins[i]);
        pthread_mutex_init(&site.bins[i]->bin_mu, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
