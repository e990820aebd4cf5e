/* SPDX-License-Identifier: MIT */
/* Healthy: switches compute their settings, and post a semaphore for a lamp driver that
 * mostly sleeps there for want of work. */
#include <semaphore.h>

#include "server.h"

static sem_t changes;
static pthread_mutex_t levels_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t levels[32];

static void *drive(void *unused)
{
    while (!server_stopping()) {
        while (sem_wait(&changes) != 0)
            continue;
        pthread_mutex_lock(&levels_mu);
        levels[0] ^= levels[1];
        pthread_mutex_unlock(&levels_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char scene[60000] = {'s'};
    uint64_t sum = checksum(scene, sizeof scene, request->number);
    if (sum % 32 == 0) {
        pthread_mutex_lock(&levels_mu);
        levels[sum / 32 % 32] = sum;
        pthread_mutex_unlock(&levels_mu);
        sem_post(&changes);
    }
    return 1;
}

static void setup(void)
{
    sem_init(&changes, 0, 0);
    server_background(drive, NULL);
}

static void stop(void)
{
    sem_post(&changes);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
