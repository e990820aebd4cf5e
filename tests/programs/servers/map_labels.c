/* SPDX-License-Identifier: MIT */
/* Labels are drawn in the one font cache that exists, under its mutex, for about three
 * milliseconds of CPU time. Eight threads that compute relief for other maps never take
 * the mutex, but they take the CPU from the thread that has it. A file is written as
 * well, but without a lock. */
#include <stdlib.h>

#include "server.h"

enum { GLYPHS = 40000, PASSES = 75, RELIEFS = 8 };

static pthread_mutex_t font_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *glyphs;
static pthread_mutex_t done_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t done;

static uint64_t draw(uint64_t label)
{
    pthread_mutex_lock(&font_mu);
    for (unsigned pass = 0; pass < PASSES; pass++)
        label = checksum(glyphs, GLYPHS, label + pass);
    glyphs[label % GLYPHS] = (unsigned char)label;
    pthread_mutex_unlock(&font_mu);
    return label;
}

static void *compute_relief(void *unused)
{
    unsigned char *heights = calloc(GLYPHS, 1);
    while (heights && !server_stopping())
        heights[0] = (unsigned char)checksum(heights, GLYPHS, heights[1]);
    free(heights);
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(1000); /* the tile's file */
    request->random += draw(request->number) & 3;
    pthread_mutex_lock(&done_mu);
    done++;
    pthread_mutex_unlock(&done_mu);
    return 1;
}

static void setup(void)
{
    glyphs = calloc(GLYPHS, 1);
    unsigned reliefs = server_fix("fewer-threads") ? 1 : RELIEFS;
    for (unsigned i = 0; i < reliefs; i++)
        server_background(compute_relief, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
