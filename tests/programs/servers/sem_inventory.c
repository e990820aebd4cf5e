/* SPDX-License-Identifier: MIT */
/* An inventory that was ported from another system guards its table with a POSIX
 * semaphore of value 1, which is a lock that pthread's functions do not know. The
 * mutex of the price list is busy and harmless. */
#include <semaphore.h>

#include "server.h"

enum { ARTICLES = 14000 };

static sem_t inventory_sem;
static unsigned char articles[ARTICLES], reserved[ARTICLES];
static pthread_mutex_t prices_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t prices[64];

static uint64_t reserve(uint64_t order)
{
    uint64_t article = 0;
    if (server_fix("shorten-section"))
        article = checksum(articles, ARTICLES, order);
    while (sem_wait(&inventory_sem) != 0)
        ;
    if (!server_fix("shorten-section"))
        article = checksum(articles, ARTICLES, order);
    reserved[article % ARTICLES]++;
    sem_post(&inventory_sem);
    return article;
}

static uint64_t price_of(uint64_t article)
{
    pthread_mutex_lock(&prices_mu);
    uint64_t price = prices[article % 64]++;
    pthread_mutex_unlock(&prices_mu);
    return price;
}

static unsigned handle(struct request *request)
{
    char order[1500] = {'o'};
    uint64_t article = reserve(checksum(order, sizeof order, request->number));
    for (unsigned i = 0; i < 3; i++)
        request->random += price_of(article + i) & 1;
    return 1;
}

static void setup(void)
{
    sem_init(&inventory_sem, 0, 1);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
