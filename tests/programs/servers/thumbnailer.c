/* SPDX-License-Identifier: MIT */
/* Thumbnails are scaled in the one large buffer that exists, under its mutex. Six
 * threads that scan old albums for duplicates use the CPUs as well. They never take
 * the mutex, but they take the CPU from the thread that has it. */
#include <stdlib.h>

#include "server.h"

enum { PIXELS = 60000, SCANNERS = 6 };

static pthread_mutex_t canvas_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *canvas;
static pthread_mutex_t index_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t thumbnails;

static uint64_t scale(uint64_t image)
{
    pthread_mutex_lock(&canvas_mu);
    for (unsigned pass = 0; pass < 90; pass++)
        image = checksum(canvas, PIXELS, image + pass);
    canvas[image % PIXELS] = (unsigned char)image;
    pthread_mutex_unlock(&canvas_mu);
    return image;
}

static void *scan(void *unused)
{
    unsigned char *album = calloc(PIXELS, 1);
    while (album && !server_stopping())
        album[0] = (unsigned char)checksum(album, PIXELS, album[1]);
    free(album);
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(500); /* the upload */
    request->random += scale(request->number);
    pthread_mutex_lock(&index_mu);
    thumbnails++;
    pthread_mutex_unlock(&index_mu);
    return 1;
}

static void setup(void)
{
    canvas = calloc(PIXELS, 1);
    unsigned scanners = server_fix("fewer-threads") ? 1 : SCANNERS;
    for (unsigned i = 0; i < scanners; i++)
        server_background(scan, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
