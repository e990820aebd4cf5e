/* SPDX-License-Identifier: MIT */
/* A mixer whose lock inherits priorities, as is recommended for real-time code. The
 * kernel hands such a mutex over to the first waiter, which must wake up before any
 * thread can continue. */
#include "server.h"

enum { CHANNELS = 32, FRAMES = 64 };

static struct {
    pthread_mutex_t lock;
    int32_t level[CHANNELS][FRAMES];
} mixer;
static pthread_mutex_t meters_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t peaks[CHANNELS];

static unsigned handle(struct request *request)
{
    unsigned channel = (unsigned)random_below(request, CHANNELS);
    int32_t frames[FRAMES];
    for (unsigned i = 0; i < FRAMES; i++)
        frames[i] = (int32_t)checksum(&i, sizeof i, request->number);
    pthread_mutex_lock(&mixer.lock);
    for (unsigned i = 0; i < FRAMES; i++)
        mixer.level[channel][i] += frames[i];
    uint64_t peak = checksum(mixer.level[channel], sizeof frames, 0);
    pthread_mutex_unlock(&mixer.lock);
    if (request->number % 100 == 0) {
        pthread_mutex_lock(&meters_lock);
        peaks[channel] = peak;
        pthread_mutex_unlock(&meters_lock);
    }
    return 1;
}

static void setup(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (!server_fix("unfair-lock"))
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mixer.lock, &attributes);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
