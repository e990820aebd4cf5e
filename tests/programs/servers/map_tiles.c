/* SPDX-License-Identifier: MIT */
/* The view of each client of a map holds tiles, which consist of many small shapes.
 * A new tile allocates its shapes, and the old one frees them, while the views are
 * locked. The remedy allocates before and frees after. */
#include <stdlib.h>

#include "server.h"

enum { CLIENTS = 256, TILES = 16, SHAPES = 60 };

struct shape {
    struct shape *next;
    uint32_t corners[];
};

static pthread_mutex_t views_mu = PTHREAD_MUTEX_INITIALIZER;
static struct shape *views[CLIENTS][TILES];
static pthread_mutex_t hits_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hits;

static struct shape *allocate_tile(uint64_t number)
{
    struct shape *first = NULL;
    for (unsigned i = 0; i < SHAPES; i++) {
        size_t corners = 20 + (number + i) % 40 * 4;
        struct shape *shape = malloc(sizeof *shape + corners * sizeof(uint32_t));
        if (!shape)
            abort();
        shape->corners[0] = (uint32_t)number;
        shape->next = first;
        first = shape;
    }
    return first;
}

static void free_tile(struct shape *shape)
{
    while (shape) {
        struct shape *next = shape->next;
        free(shape);
        shape = next;
    }
}

static void replace_tile(struct shape **tile, uint64_t number)
{
    struct shape *fresh = NULL, *old = NULL;
    bool outside = server_fix("allocate-outside");
    if (outside)
        fresh = allocate_tile(number);
    pthread_mutex_lock(&views_mu);
    if (outside) {
        old = *tile;
        *tile = fresh;
    } else {
        free_tile(*tile);
        *tile = allocate_tile(number);
    }
    pthread_mutex_unlock(&views_mu);
    free_tile(old);
}

static unsigned handle(struct request *request)
{
    char message[1500] = {'m'};
    uint64_t number = random_below(request, TILES);
    replace_tile(&views[request->worker][number], request->number);
    request->random += checksum(message, sizeof message, number) & 3;
    if (request->number % 16 == 0) {
        pthread_mutex_lock(&hits_mu);
        hits += 16;
        pthread_mutex_unlock(&hits_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
