/* SPDX-License-Identifier: MIT */
/* Each of 250,000 keys has a lock, which the loader takes once. After that, a few
 * hundred keys are used. The locks need more memory than the values. */
#include <stdlib.h>

#include "server.h"

enum { KEYS = 250000, HOT = 300, STRIPES = 32 };

struct key {
    pthread_mutex_t value_mu;
    uint64_t value;
};

static struct key *keys;
static struct key stripes[STRIPES];
static pthread_mutex_t version_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t version;

static pthread_mutex_t *lock_of(uint64_t number)
{
    if (server_fix("fewer-locks"))
        return &stripes[number % STRIPES].value_mu;
    return &keys[number].value_mu;
}

static void put(uint64_t number, uint64_t value)
{
    pthread_mutex_t *mutex = lock_of(number);
    pthread_mutex_lock(mutex);
    keys[number].value = value;
    pthread_mutex_unlock(mutex);
}

static void *publish(void *unused)
{
    while (!server_stopping()) {
        sleep_us(5000);
        pthread_mutex_lock(&version_mu);
        version++;
        pthread_mutex_unlock(&version_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char body[500] = {'b'};
    sleep_us(60);
    uint64_t number = random_below(request, HOT) * (KEYS / HOT);
    put(number, checksum(body, sizeof body, request->number));
    return 1;
}

static void setup(void)
{
    keys = calloc(KEYS, sizeof *keys);
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripes[i].value_mu, NULL);
    for (uint64_t i = 0; i < KEYS; i++) {
        if (!server_fix("fewer-locks"))
            pthread_mutex_init(&keys[i].value_mu, NULL);
        put(i, i);
    }
    server_background(publish, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
