/* SPDX-License-Identifier: MIT */
/* Orders change the stock under a mutex. Whoever finds it taken sleeps for 300 us, many
 * times as long as the section, and tries again. */
#include <errno.h>

#include "server.h"

enum { ARTICLES = 2500 };

static pthread_mutex_t stock_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t stock[ARTICLES];

static uint64_t order(uint64_t article)
{
    if (server_fix("block-instead"))
        pthread_mutex_lock(&stock_mu);
    else
        while (pthread_mutex_trylock(&stock_mu) == EBUSY)
            sleep_us(300);
    stock[article]++;
    uint64_t sum = checksum(stock, sizeof stock, article);
    pthread_mutex_unlock(&stock_mu);
    return sum;
}

static unsigned handle(struct request *request)
{
    sleep_us(20); /* the next order */
    order(random_below(request, ARTICLES));
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
