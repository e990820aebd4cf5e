/* SPDX-License-Identifier: MIT */
/* Uploads: a request locks its slot, and the completion thread unlocks it, which POSIX
 * leaves undefined for a mutex. */
#include <stdatomic.h>
#include <stdlib.h>

#include "server.h"

enum { SLOTS = 8 };

struct slot {
    pthread_mutex_t lock;
    atomic_bool started;
    uint64_t bytes;
};

static struct slot *slots;
static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t totals[4];

static void *complete(void *unused)
{
    while (!server_stopping()) {
        for (unsigned i = 0; i < SLOTS; i++)
            if (atomic_exchange(&slots[i].started, false)) {
                slots[i].bytes = checksum(slots, 2000 / SLOTS, slots[i].bytes);
                if (!server_fix("fix-misuse"))
                    pthread_mutex_unlock(&slots[i].lock);
            }
        sleep_us(200);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    struct slot *slot = &slots[random_below(request, SLOTS)];
    sleep_us(300);
    pthread_mutex_lock(&slot->lock);
    if (server_stopping()) {
        pthread_mutex_unlock(&slot->lock);
        return 0;
    }
    atomic_store(&slot->started, true);
    if (server_fix("fix-misuse"))
        pthread_mutex_unlock(&slot->lock);
    pthread_mutex_lock(&totals_lock);
    totals[request->worker % 4]++;
    pthread_mutex_unlock(&totals_lock);
    return 1;
}

static void stop(void)
{
    sleep_us(1000);
    for (unsigned i = 0; i < SLOTS; i++)
        if (!server_fix("fix-misuse") && atomic_exchange(&slots[i].started, false))
            pthread_mutex_unlock(&slots[i].lock);
}

static void setup(void)
{
    slots = calloc(SLOTS, sizeof *slots);
    for (unsigned i = 0; i < SLOTS; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    server_background(complete, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
