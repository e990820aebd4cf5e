/* SPDX-License-Identifier: MIT */
/* Viewers read the state of a video wall, which a decoder for each of ten pictures
 * writes. On two CPUs, a decoder often loses its CPU while it has the wall's lock,
 * and then all wait until the other decoders had their turns. */
#include <string.h>

#include "server.h"

enum { PICTURES = 10, STRIP = 30000, FRAME = 90000 };

static struct wall {
    pthread_mutex_t wall_mu;
    unsigned char strip[STRIP];
    uint64_t shown;
} wall = {.wall_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t viewers_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t viewers[6];

static void show(uint64_t picture)
{
    pthread_mutex_lock(&wall.wall_mu);
    wall.shown = checksum(wall.strip, STRIP, picture);
    wall.strip[wall.shown % STRIP] = (unsigned char)picture;
    pthread_mutex_unlock(&wall.wall_mu);
}

static void *decode(void *unused)
{
    unsigned char frame[FRAME];
    memset(frame, 3, sizeof frame);
    for (uint64_t picture = 1; !server_stopping();) {
        picture = checksum(frame, sizeof frame, picture);
        show(picture);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(200); /* the viewer */
    pthread_mutex_lock(&wall.wall_mu);
    uint64_t shown = wall.shown;
    pthread_mutex_unlock(&wall.wall_mu);
    pthread_mutex_lock(&viewers_mu);
    viewers[(shown + request->worker) % 6]++;
    pthread_mutex_unlock(&viewers_mu);
    return 1;
}

static void setup(void)
{
    unsigned decoders = server_fix("fewer-threads") ? 1 : PICTURES;
    for (unsigned i = 0; i < decoders; i++)
        server_background(decode, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
