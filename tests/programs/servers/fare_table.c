/* SPDX-License-Identifier: MIT */
/* A thread computes all fares again every few milliseconds, and keeps the table
 * locked for writing meanwhile, so searches stand still. The remedy computes into a
 * copy and locks the table only to exchange the two. */
#include <stdlib.h>

#include "server.h"

enum { FARES = 1500 };

static struct fares {
    pthread_rwlock_t fares_rw;
    uint64_t *current, *next;
} fares = {.fares_rw = PTHREAD_RWLOCK_INITIALIZER};
static pthread_mutex_t searches_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t searches;

static void compute(uint64_t *table, uint64_t season)
{
    unsigned char rules[1000] = {(unsigned char)season};
    for (unsigned i = 0; i < FARES; i++)
        table[i] = checksum(rules, sizeof rules, season + i) % 900 + 50;
}

static void *update(void *unused)
{
    for (uint64_t season = 0; !server_stopping(); season++) {
        if (server_fix("shorten-writes"))
            compute(fares.next, season);
        pthread_rwlock_wrlock(&fares.fares_rw);
        if (server_fix("shorten-writes")) {
            uint64_t *old = fares.current;
            fares.current = fares.next;
            fares.next = old;
        } else {
            compute(fares.current, season);
        }
        pthread_rwlock_unlock(&fares.fares_rw);
        sleep_us(700);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char itinerary[1200] = {'I'};
    sleep_us(30); /* the network */
    uint64_t route = checksum(itinerary, sizeof itinerary, request->number);
    pthread_rwlock_rdlock(&fares.fares_rw);
    for (unsigned i = 0; i < 20; i++)
        request->random += fares.current[(route + i * 37) % FARES];
    pthread_rwlock_unlock(&fares.fares_rw);
    if (request->number % 8 == 0) {
        pthread_mutex_lock(&searches_mu);
        searches += 8;
        pthread_mutex_unlock(&searches_mu);
    }
    return 1;
}

static void setup(void)
{
    fares.current = calloc(FARES, sizeof *fares.current);
    fares.next = calloc(FARES, sizeof *fares.next);
    server_background(update, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
