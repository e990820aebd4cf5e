/* SPDX-License-Identifier: MIT */
/* Sensors report readings, of which an analyst needs 400 good ones at once. Every
 * reading wakes the analyst, who counts the good readings and waits again. */
#include <string.h>

#include "server.h"

enum { WINDOW = 400, READINGS = 4096 };

static struct hub {
    uint64_t readings[READINGS];
    unsigned first, next;
    pthread_mutex_t hub_mutex;
    pthread_cond_t window_full, room;
} hub = {.hub_mutex = PTHREAD_MUTEX_INITIALIZER,
         .window_full = PTHREAD_COND_INITIALIZER,
         .room = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t alarms_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t alarms;

/* The number of readings that are good, at most WINDOW. */
static unsigned count_good(void)
{
    unsigned good = 0;
    for (unsigned i = hub.first; i != hub.next && good < WINDOW; i++)
        good += checksum(&hub.readings[i % READINGS], sizeof(uint64_t), 1) != 0;
    return good;
}

static void *analyse(void *unused)
{
    static uint64_t window[WINDOW];
    while (!server_stopping()) {
        pthread_mutex_lock(&hub.hub_mutex);
        while (count_good() < WINDOW && !server_stopping())
            pthread_cond_wait(&hub.window_full, &hub.hub_mutex);
        for (unsigned i = 0; i < WINDOW; i++)
            window[i] = hub.readings[hub.first++ % READINGS];
        pthread_cond_broadcast(&hub.room);
        pthread_mutex_unlock(&hub.hub_mutex);
        uint64_t mean = checksum(window, sizeof window, 0);
        pthread_mutex_lock(&alarms_mutex);
        alarms += mean % 2;
        pthread_mutex_unlock(&alarms_mutex);
    }
    return unused;
}

static void report(uint64_t reading)
{
    pthread_mutex_lock(&hub.hub_mutex);
    while (hub.next - hub.first >= READINGS && !server_stopping())
        pthread_cond_wait(&hub.room, &hub.hub_mutex);
    hub.readings[hub.next++ % READINGS] = reading;
    bool is_full = hub.next - hub.first >= WINDOW;
    if (is_full || !server_fix("check-first"))
        pthread_cond_signal(&hub.window_full);
    pthread_mutex_unlock(&hub.hub_mutex);
}

static unsigned handle(struct request *request)
{
    char raw[3000];
    memset(raw, (int)(request->number % 200), sizeof raw);
    report(checksum(raw, sizeof raw, request->worker));
    return 1;
}

static void setup(void)
{
    server_background(analyse, NULL);
}

static void stop(void)
{
    pthread_mutex_lock(&hub.hub_mutex);
    pthread_cond_broadcast(&hub.window_full);
    pthread_cond_broadcast(&hub.room);
    pthread_mutex_unlock(&hub.hub_mutex);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
