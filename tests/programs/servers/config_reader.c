/* SPDX-License-Identifier: MIT */
/* A getter locks the options, which its caller has locked already. The mutex checks
 * for errors, so pthread_mutex_lock() fails, but nobody looks at its result. The
 * getter unlocks the mutex, and the rest of the caller's section is not protected. */
#include <stdlib.h>

#include "server.h"

struct options {
    pthread_mutex_t options_mu;
    uint64_t values[32], generation;
};

static struct options *options;
static pthread_mutex_t cache_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t cache[16];

static uint64_t get(unsigned index)
{
    if (server_fix("fix-misuse"))
        return options->values[index];
    pthread_mutex_lock(&options->options_mu);
    uint64_t value = options->values[index];
    pthread_mutex_unlock(&options->options_mu);
    return value;
}

static uint64_t snapshot(uint64_t random)
{
    pthread_mutex_lock(&options->options_mu);
    uint64_t sum = random % 64 == 0 ? get(3) + get(4) : options->values[random % 32];
    options->generation++;
    pthread_mutex_unlock(&options->options_mu);
    return sum;
}

static unsigned handle(struct request *request)
{
    sleep_us(150);
    uint64_t sum = snapshot(random_below(request, 1u << 20));
    pthread_mutex_lock(&cache_mu);
    cache[request->number % 16] = sum;
    pthread_mutex_unlock(&cache_mu);
    return 1;
}

static void setup(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    options = calloc(1, sizeof *options);
    pthread_mutex_init(&options->options_mu, &attributes);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
