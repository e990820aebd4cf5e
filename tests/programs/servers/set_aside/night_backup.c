/* SPDX-License-Identifier: MIT */
/* Healthy: a backup locks the catalogue for eight milliseconds four times in a second.
 * Requests compress their own data and need the catalogue once in a while, so someone
 * waits for the backup, but hardly anything is lost by it. */
#include "../server.h"

enum { ENTRIES = 300, RARE = 200 };

static pthread_mutex_t catalogue_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t totals_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t catalogue[ENTRIES], totals, copied;

static void *back_up(void *unused)
{
    static uint64_t copy[ENTRIES];
    while (!server_stopping()) {
        if (!server_fix("move-blocking-out"))
            pthread_mutex_lock(&catalogue_mu);
        for (unsigned i = 0; i < ENTRIES; i++)
            copy[i] = __atomic_load_n(&catalogue[i], __ATOMIC_RELAXED);
        sleep_us(8000); /* the tape */
        if (!server_fix("move-blocking-out"))
            pthread_mutex_unlock(&catalogue_mu);
        copied += copy[0] != 1;
        for (unsigned i = 0; i < 24 && !server_stopping(); i++)
            sleep_us(10000);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    unsigned char data[50000] = {0};
    uint64_t value = checksum(data, sizeof data, request->number);
    if (request->number % RARE == 0) {
        pthread_mutex_lock(&catalogue_mu);
        __atomic_store_n(&catalogue[value % ENTRIES], value, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&catalogue_mu);
    }
    pthread_mutex_lock(&totals_mu);
    totals += value & 7;
    pthread_mutex_unlock(&totals_mu);
    return 1;
}

static void setup(void)
{
    server_background(back_up, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
