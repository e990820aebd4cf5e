/* SPDX-License-Identifier: MIT */
/* A search index is merged segment by segment. The merging thread unlocks the index
 * after each segment and locks it again for the next one before a thread that was
 * waiting has got anywhere. The remedy is a lock that keeps to the order of arrival. */
#include <string.h>

#include "../server.h"

enum { SEGMENTS = 48, SEGMENT = 40000 };

static struct {
    pthread_mutex_t index_mu;
    unsigned char segments[SEGMENTS][SEGMENT / 8];
    uint64_t generation;
} search = {.index_mu = PTHREAD_MUTEX_INITIALIZER};

static struct fair_lock in_turn = FAIR_LOCK_INITIALIZER;
static pthread_mutex_t stats_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t found;

static void lock_index(void)
{
    if (server_fix("fair-lock"))
        fair_lock_acquire(&in_turn);
    else
        pthread_mutex_lock(&search.index_mu);
}

static void unlock_index(void)
{
    if (server_fix("fair-lock"))
        fair_lock_release(&in_turn);
    else
        pthread_mutex_unlock(&search.index_mu);
}

static void *merge(void *unused)
{
    for (unsigned at = 0; !server_stopping(); at = (at + 1) % SEGMENTS) {
        lock_index();
        for (unsigned pass = 0; pass < 40; pass++)
            search.generation += checksum(search.segments[at], SEGMENT / 8, pass);
        search.segments[at][0]++;
        unlock_index();
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(150); /* the next query arrives */
    unsigned at = (unsigned)random_below(request, SEGMENTS);
    lock_index();
    request->random += checksum(search.segments[at], 100, search.generation) | 1;
    unlock_index();
    pthread_mutex_lock(&stats_mu);
    found++;
    pthread_mutex_unlock(&stats_mu);
    return 1;
}

static void setup(void)
{
    server_background(merge, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
