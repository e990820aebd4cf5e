/* SPDX-License-Identifier: MIT */
/* On bad input, an importer ends by pthread_exit() while it holds the catalogue's
 * lock. */
#include "server.h"

enum { ITEMS = 512, BAD_ITEM = 150 };

static struct catalogue {
    pthread_mutex_t catalogue_lock;
    uint64_t items[ITEMS];
} catalogue = {.catalogue_lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t queries_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t queries;

static void import_item(uint64_t number)
{
    pthread_mutex_lock(&catalogue.catalogue_lock);
    if (number == BAD_ITEM) {
        if (server_fix("release"))
            pthread_mutex_unlock(&catalogue.catalogue_lock);
        pthread_exit(NULL);
    }
    catalogue.items[number % ITEMS] = checksum(&number, sizeof number, number);
    pthread_mutex_unlock(&catalogue.catalogue_lock);
}

static void *import(void *unused)
{
    for (uint64_t number = 0; !server_stopping(); number++) {
        import_item(number);
        sleep_us(500);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(200);
    pthread_mutex_lock(&queries_lock);
    queries++;
    pthread_mutex_unlock(&queries_lock);
    pthread_mutex_lock(&catalogue.catalogue_lock);
    uint64_t item = catalogue.items[random_below(request, ITEMS)];
    pthread_mutex_unlock(&catalogue.catalogue_lock);
    return item != 1;
}

static void setup(void)
{
    server_background(import, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", NULL};
    static const struct service service = {fixes, setup, handle, NULL, true};
    return server_main(count, words, &service);
}
