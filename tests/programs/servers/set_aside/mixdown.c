/* SPDX-License-Identifier: MIT */
/* Tracks are mixed into the master under its mutex, for a fraction of a millisecond
 * each. Ten threads that draw waveforms nobody looks at use the CPUs too. They never
 * take the mutex, but when one of them gets the mixing thread's CPU, all mixing
 * stops. */
#include "../server.h"

enum { DRAWERS = 10, SAMPLES = 60000 };

static pthread_mutex_t master_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t meter_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char master[SAMPLES];
static uint64_t meter;

static void mix(uint64_t track)
{
    pthread_mutex_lock(&master_mu);
    uint64_t level = checksum(master, SAMPLES, track);
    master[level % SAMPLES]++;
    level = checksum(master, SAMPLES, level);
    master[level % SAMPLES]++;
    pthread_mutex_unlock(&master_mu);
}

static void *draw_waveforms(void *unused)
{
    unsigned char picture[30000] = {0};
    while (!server_stopping())
        picture[0] += (unsigned char)checksum(picture, sizeof picture, 1);
    return unused;
}

static unsigned handle(struct request *request)
{
    unsigned char track[4000] = {0};
    mix(checksum(track, sizeof track, request->number));
    sleep_us(100); /* the next block arrives */
    pthread_mutex_lock(&meter_mu);
    meter++;
    pthread_mutex_unlock(&meter_mu);
    return 1;
}

static void setup(void)
{
    unsigned drawers = server_fix("fewer-threads") ? 0 : DRAWERS;
    for (unsigned i = 0; i < drawers; i++)
        server_background(draw_waveforms, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
