/* SPDX-License-Identifier: MIT */
/* A booking service whose path for invalid orders returns without unlocking. Some time
 * after the start, every thread waits for seats->lock. */
#include <stdlib.h>

#include "server.h"

enum { SEATS = 1000, INVALID_AFTER = 400 };

struct seats {
    pthread_mutex_t lock;
    uint64_t taken[SEATS];
};

static struct seats *seats;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t logged;

static bool book(struct request *request)
{
    uint64_t seat = random_below(request, SEATS);
    pthread_mutex_lock(&seats->lock);
    if (request->number == INVALID_AFTER && request->worker == 0) {
        if (server_fix("release"))
            pthread_mutex_unlock(&seats->lock);
        return false;
    }
    seats->taken[seat]++;
    pthread_mutex_unlock(&seats->lock);
    return true;
}

static unsigned handle(struct request *request)
{
    sleep_us(200);
    bool booked = book(request);
    pthread_mutex_lock(&log_lock);
    logged += booked;
    pthread_mutex_unlock(&log_lock);
    return booked;
}

static void setup(void)
{
    seats = calloc(1, sizeof *seats);
    pthread_mutex_init(&seats->lock, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", NULL};
    static const struct service service = {fixes, setup, handle, NULL, true};
    return server_main(count, words, &service);
}
