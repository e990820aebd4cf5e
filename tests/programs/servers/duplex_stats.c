/* SPDX-License-Identifier: MIT */
/* Each channel has one thread that sends and one that receives, and a lock for the
 * counters of either direction. No two threads want the same lock, but both locks of
 * a channel begin in one cache line. */
#include <stdlib.h>

#include "server.h"

enum { CHANNELS = 128, BATCH = 256, FAR = 192 };

struct counters {
    pthread_mutex_t direction_mu;
    uint32_t frames, bytes;
};

struct channel {
    char memory[2 * FAR];
} __attribute__((aligned(128)));

static struct channel *channels;
static pthread_mutex_t totals_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t totals;

static struct counters *counters_of(unsigned worker)
{
    size_t apart = server_fix("pad") ? FAR : sizeof(struct counters);
    return (void *)(channels[worker / 2 % CHANNELS].memory + worker % 2 * apart);
}

static void count_frame(struct counters *counters, uint64_t frame)
{
    pthread_mutex_lock(&counters->direction_mu);
    counters->frames++;
    counters->bytes += (uint32_t)(frame % 1500);
    pthread_mutex_unlock(&counters->direction_mu);
}

static void *add_up(void *unused)
{
    while (!server_stopping()) {
        sleep_us(25000);
        pthread_mutex_lock(&totals_mu);
        for (unsigned i = 0; i < server_threads(); i++) {
            struct counters *counters = counters_of(i);
            pthread_mutex_lock(&counters->direction_mu);
            totals += counters->frames;
            pthread_mutex_unlock(&counters->direction_mu);
        }
        pthread_mutex_unlock(&totals_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    struct counters *counters = counters_of(request->worker);
    for (unsigned i = 0; i < BATCH; i++)
        count_frame(counters, checksum(&i, sizeof i, request->number));
    return BATCH;
}

static void setup(void)
{
    channels = aligned_alloc(128, CHANNELS * sizeof *channels);
    for (unsigned i = 0; i < 2 * CHANNELS; i++) {
        struct counters *counters = counters_of(i);
        *counters = (struct counters){.frames = 0};
        pthread_mutex_init(&counters->direction_mu, NULL);
    }
    server_background(add_up, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
