/* SPDX-License-Identifier: MIT */
/* Each request replaces its thread's list of results by a new one, and frees the old
 * list, node by node, under the cache's lock. The remedy only unlinks the list there.
 * */
#include <stdlib.h>

#include "server.h"

enum { LISTS = 32, NODES = 160 };

struct node {
    struct node *next;
    uint64_t value[12];
};

static struct cache {
    pthread_mutex_t lists_mu;
    struct node *lists[LISTS];
    uint64_t replaced;
} cache = {.lists_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t misses_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t misses;

static struct node *build(uint64_t value)
{
    struct node *list = NULL;
    for (unsigned i = 0; i < NODES; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = list;
        node->value[0] = value + i;
        list = node;
    }
    return list;
}

static void free_list(struct node *list)
{
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
}

static void replace(uint64_t at, uint64_t value)
{
    bool outside = server_fix("allocate-outside");
    struct node *fresh = outside ? build(value) : NULL, *old;
    pthread_mutex_lock(&cache.lists_mu);
    old = cache.lists[at];
    if (!outside) {
        free_list(old);
        fresh = build(value);
    }
    cache.lists[at] = fresh;
    cache.replaced++;
    pthread_mutex_unlock(&cache.lists_mu);
    if (outside)
        free_list(old);
}

static void *look(void *unused)
{
    for (unsigned i = 0; !server_stopping(); i++) {
        pthread_mutex_lock(&cache.lists_mu);
        bool missed = cache.lists[i % LISTS] == NULL;
        pthread_mutex_unlock(&cache.lists_mu);
        pthread_mutex_lock(&misses_mu);
        misses += missed;
        pthread_mutex_unlock(&misses_mu);
        sleep_us(1000);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char query[800] = {'q'};
    uint64_t value = checksum(query, sizeof query, request->number);
    replace(request->worker % LISTS, value);
    return 1;
}

static void setup(void)
{
    server_background(look, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
