/* SPDX-License-Identifier: MIT */
/* Requests for a scanner post a semaphore for its thread and wait on another one until
 * the line is read, with the settings locked. The remedy copies the settings and waits
 * without the lock. */
#include <semaphore.h>

#include "server.h"

static pthread_mutex_t settings_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t resolution = 300, lines;
static sem_t wanted, ready;
static pthread_mutex_t stored_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t stored;

static void *scan(void *unused)
{
    while (!server_stopping()) {
        sem_wait(&wanted);
        sleep_us(300); /* the carriage moves */
        sem_post(&ready);
    }
    return unused;
}

static uint64_t read_line(void)
{
    bool outside = server_fix("move-blocking-out");
    pthread_mutex_lock(&settings_mu);
    uint64_t dots = resolution;
    lines++;
    sem_post(&wanted);
    if (outside)
        pthread_mutex_unlock(&settings_mu);
    sem_wait(&ready);
    if (!outside)
        pthread_mutex_unlock(&settings_mu);
    return dots;
}

static unsigned handle(struct request *request)
{
    char line[20000] = {'l'};
    uint64_t dots = resolution;
    if (request->number % 2 == 0) {
        dots = read_line();
    } else {
        pthread_mutex_lock(&settings_mu);
        dots += lines;
        pthread_mutex_unlock(&settings_mu);
    }
    request->random += checksum(line, sizeof line, dots) & 1;
    pthread_mutex_lock(&stored_mu);
    stored++;
    pthread_mutex_unlock(&stored_mu);
    return 1;
}

static void setup(void)
{
    sem_init(&wanted, 0, 0);
    sem_init(&ready, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        server_background(scan, NULL);
}

static void stop(void)
{
    for (unsigned i = 0; i < 600; i++) {
        sem_post(&wanted);
        sem_post(&ready);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
