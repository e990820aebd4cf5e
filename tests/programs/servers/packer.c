/* SPDX-License-Identifier: MIT */
/* Packers wait for room in a small ring, and 20 shippers for parcels. Both wait for one
 * condition variable, so every change of the ring wakes all of them. */
#include "server.h"

enum { ROOM = 16, SHIPPERS = 20 };

static struct ring {
    pthread_mutex_t ring_mu;
    pthread_cond_t changed, filled, emptied;
    uint64_t parcels[ROOM];
    unsigned first, used;
} ring = {PTHREAD_MUTEX_INITIALIZER,
          PTHREAD_COND_INITIALIZER,
          PTHREAD_COND_INITIALIZER,
          PTHREAD_COND_INITIALIZER,
          {0},
          0,
          0};

static void wait_for(pthread_cond_t *one)
{
    bool own = server_fix("signal-one");
    pthread_cond_wait(own ? one : &ring.changed, &ring.ring_mu);
}

static void wake(pthread_cond_t *one)
{
    if (server_fix("signal-one"))
        pthread_cond_signal(one);
    else
        pthread_cond_broadcast(&ring.changed);
}

static void put(uint64_t parcel)
{
    pthread_mutex_lock(&ring.ring_mu);
    while (ring.used == ROOM && !server_stopping())
        wait_for(&ring.emptied);
    if (ring.used < ROOM)
        ring.parcels[(ring.first + ring.used++) % ROOM] = parcel;
    wake(&ring.filled);
    pthread_mutex_unlock(&ring.ring_mu);
}

static void *ship(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&ring.ring_mu);
        while (!ring.used && !server_stopping())
            wait_for(&ring.filled);
        if (ring.used) {
            ring.used--;
            ring.first = (ring.first + 1) % ROOM;
        }
        wake(&ring.emptied);
        pthread_mutex_unlock(&ring.ring_mu);
        sleep_us(60); /* the lorry */
        server_count(1);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char parcel[9000] = {'p'};
    put(checksum(parcel, sizeof parcel, request->number));
    return 0;
}

static void setup(void)
{
    for (unsigned i = 0; i < SHIPPERS; i++)
        server_background(ship, NULL);
}

static void stop(void)
{
    pthread_mutex_lock(&ring.ring_mu);
    pthread_cond_broadcast(&ring.changed);
    pthread_cond_broadcast(&ring.filled);
    pthread_cond_broadcast(&ring.emptied);
    pthread_mutex_unlock(&ring.ring_mu);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
