/* SPDX-License-Identifier: MIT */
/* The latch of a B-tree's root inherits priorities, "to be safe". The kernel passes
 * such a mutex to the thread that waited longest, which must wake up first. */
#include <stdlib.h>

#include "server.h"

enum { FANOUT = 64, PAGES = 64 };

struct root {
    pthread_mutex_t root_latch;
    uint32_t keys[FANOUT];
};

static struct root *root;
static pthread_mutex_t splits_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t splits, pages[PAGES];

static unsigned descend(uint32_t key)
{
    unsigned at = 0;
    pthread_mutex_lock(&root->root_latch);
    while (at < FANOUT - 1 && root->keys[at] < key)
        at++;
    root->keys[at] ^= key & 1;
    pthread_mutex_unlock(&root->root_latch);
    return at;
}

static void *split(void *unused)
{
    while (!server_stopping()) {
        sleep_us(5000);
        pthread_mutex_lock(&splits_mu);
        splits += pages[splits % PAGES] & 1;
        pthread_mutex_unlock(&splits_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char record[250] = {'r'};
    uint64_t key = random_below(request, FANOUT * 1000);
    uint64_t sum = checksum(record, sizeof record, key);
    unsigned page = descend((uint32_t)key);
    if (sum % 1024 == 0) {
        pthread_mutex_lock(&splits_mu);
        pages[page]++;
        pthread_mutex_unlock(&splits_mu);
    }
    return 1;
}

static void setup(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (!server_fix("unfair-lock"))
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    root = calloc(1, sizeof *root);
    pthread_mutex_init(&root->root_latch, &attributes);
    for (uint32_t i = 0; i < FANOUT; i++)
        root->keys[i] = i * 1000;
    server_background(split, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
