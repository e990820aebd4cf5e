/* SPDX-License-Identifier: MIT */
/* A network driver in user space. Threads refill a receive ring under a spin lock, and
 * there are more of them than CPUs. */
#include <string.h>

#include "server.h"

enum { DESCRIPTORS = 128, FRAME = 3000 };

static struct ring {
    pthread_spinlock_t refill_lock;
    unsigned tail;
    unsigned char frames[DESCRIPTORS][FRAME];
} ring;
static pthread_mutex_t mutex, statistics_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t bad_frames;

static void lock_ring(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_lock(&mutex);
    else
        pthread_spin_lock(&ring.refill_lock);
}

static void unlock_ring(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_unlock(&mutex);
    else
        pthread_spin_unlock(&ring.refill_lock);
}

static uint64_t refill(uint64_t seed)
{
    lock_ring();
    unsigned char *frame = ring.frames[ring.tail++ % DESCRIPTORS];
    memset(frame, (int)seed, 64);
    uint64_t sum = checksum(frame, FRAME, seed);
    unlock_ring();
    return sum;
}

static unsigned handle(struct request *request)
{
    uint64_t sum = refill(request->number);
    sum = checksum(&sum, sizeof sum, 1);
    if (sum % 200 == 0) {
        pthread_mutex_lock(&statistics_mutex);
        bad_frames++;
        pthread_mutex_unlock(&statistics_mutex);
    }
    return 1;
}

static void setup(void)
{
    pthread_spin_init(&ring.refill_lock, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_init(&mutex, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
