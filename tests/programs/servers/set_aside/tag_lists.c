/* SPDX-License-Identifier: MIT */
/* Each client of a photo service has a list of tags. A request replaces one: it copies
 * some two hundred words with strdup() and frees the old ones, all of that with the
 * lists locked. The remedy does both outside and exchanges two pointers inside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../server.h"

enum { CLIENTS = 256, TAGS = 180, OWN = 4 };

struct tags {
    char *words[TAGS];
};

static struct {
    pthread_mutex_t lists_mu;
    struct tags *of[CLIENTS * OWN];
} lists = {.lists_mu = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t served_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t served;
static char vocabulary[64][48];

static struct tags *copy_tags(uint64_t first)
{
    struct tags *tags = malloc(sizeof *tags);
    for (unsigned i = 0; i < TAGS; i++)
        tags->words[i] = strdup(vocabulary[(first + i) % 64]);
    return tags;
}

static void free_tags(struct tags *tags)
{
    for (unsigned i = 0; tags && i < TAGS; i++)
        free(tags->words[i]);
    free(tags);
}

static void replace_tags(unsigned client, uint64_t first)
{
    bool outside = server_fix("allocate-outside");
    struct tags *fresh = outside ? copy_tags(first) : NULL;
    pthread_mutex_lock(&lists.lists_mu);
    struct tags *old = lists.of[client];
    if (!outside) {
        free_tags(old);
        fresh = copy_tags(first);
    }
    lists.of[client] = fresh;
    pthread_mutex_unlock(&lists.lists_mu);
    if (outside)
        free_tags(old);
}

static unsigned handle(struct request *request)
{
    unsigned client = request->worker * OWN + (unsigned)random_below(request, OWN);
    replace_tags(client, request->number);
    unsigned char reply[1500] = {0};
    request->random += checksum(reply, sizeof reply, client) | 1;
    pthread_mutex_lock(&served_mu);
    served++;
    pthread_mutex_unlock(&served_mu);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < 64; i++)
        snprintf(vocabulary[i], sizeof vocabulary[i], "holiday by the sea, %u", i);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
