/* SPDX-License-Identifier: MIT */
/* A slab allocator guards its free list with a spin lock and searches it for the
 * best fit. With more threads than CPUs, a thread that loses its CPU in the search
 * lets the others spin for the rest of their time slices. */
#include "server.h"

enum { SLOTS = 8192, TAKEN = 2 };

static struct slab {
    pthread_spinlock_t slab_spin;
    pthread_mutex_t slab_mu;
    unsigned short size[SLOTS];
    bool used[SLOTS];
} slab;

static void lock_slab(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_lock(&slab.slab_mu);
    else
        pthread_spin_lock(&slab.slab_spin);
}

static void unlock_slab(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_unlock(&slab.slab_mu);
    else
        pthread_spin_unlock(&slab.slab_spin);
}

static unsigned allocate(unsigned size)
{
    unsigned best = SLOTS;
    lock_slab();
    for (unsigned i = 0; i < SLOTS; i++)
        if (!slab.used[i] && slab.size[i] >= size &&
            (best == SLOTS || slab.size[i] < slab.size[best]))
            best = i;
    if (best < SLOTS)
        slab.used[best] = true;
    unlock_slab();
    return best;
}

static void release(unsigned slot)
{
    if (slot == SLOTS)
        return;
    lock_slab();
    slab.used[slot] = false;
    unlock_slab();
}

static unsigned handle(struct request *request)
{
    char object[60000] = {'o'};
    unsigned taken[TAKEN];
    for (unsigned i = 0; i < TAKEN; i++)
        taken[i] = allocate((unsigned)random_below(request, 3000));
    request->random += checksum(object, sizeof object, taken[0]);
    for (unsigned i = 0; i < TAKEN; i++)
        release(taken[i]);
    return TAKEN;
}

static void setup(void)
{
    pthread_spin_init(&slab.slab_spin, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_init(&slab.slab_mu, NULL);
    for (unsigned i = 0; i < SLOTS; i++)
        slab.size[i] = (unsigned short)(i * 2654435761u >> 20);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
