/* SPDX-License-Identifier: MIT */
/* A pool of frame buffers. A thread that does not get the lock tries again at once. The
 * encoder holds the lock for long while it fills a frame. */
#include <sched.h>

#include "server.h"

enum { FRAME = 150000, POOL = 4 };

static struct frame_pool {
    pthread_mutex_t busy;
    char frame[FRAME];
    uint64_t encoded;
} pool;
static pthread_mutex_t bitrate_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t bitrate, scaled;

static void acquire_frame(void)
{
    if (server_fix("block-instead")) {
        pthread_mutex_lock(&pool.busy);
        return;
    }
    while (pthread_mutex_trylock(&pool.busy) != 0)
        if (server_fix("fewer-threads"))
            sched_yield();
}

static unsigned handle(struct request *request)
{
    acquire_frame();
    pool.encoded = checksum(pool.frame, FRAME / 4, request->number);
    uint64_t bits = pool.encoded % 1000;
    pthread_mutex_unlock(&pool.busy);
    pthread_mutex_lock(&bitrate_mu);
    bitrate += bits;
    pthread_mutex_unlock(&bitrate_mu);
    return 1;
}

/* Scales frames of another stream all the time, and needs the CPU time that the other
 * threads waste. */
static void *scale(void *unused)
{
    static char own[FRAME];
    while (!server_stopping()) {
        scaled = checksum(own, FRAME / 4, scaled);
        server_count(1);
    }
    return unused;
}

static void setup(void)
{
    pthread_mutex_init(&pool.busy, NULL);
    server_background(scale, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
