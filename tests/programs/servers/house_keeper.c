/* SPDX-License-Identifier: MIT */
/* Healthy: after each request a thread tries to get the mutex of the housekeeping. If
 * another thread does it already, there is nothing to do, and work goes on. */
#include "server.h"

enum { ROOMS = 20000 };

static pthread_mutex_t rooms_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char rooms[ROOMS];

static unsigned handle(struct request *request)
{
    char guest[15000] = {'g'};
    uint64_t sum = checksum(guest, sizeof guest, request->number);
    if (pthread_mutex_trylock(&rooms_mu) == 0) {
        rooms[sum % ROOMS] = (unsigned char)sum;
        if (request->number % 8 == 0)
            rooms[0] = (unsigned char)checksum(rooms, ROOMS, sum);
        pthread_mutex_unlock(&rooms_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
