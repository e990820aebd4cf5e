/* SPDX-License-Identifier: MIT */
/* Votes are counted under the write lock of a rwlock, a few instructions each time. The
 * total is read once in a while. */
#include <stdatomic.h>

#include "server.h"

static pthread_rwlock_t votes_rw = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t votes;
static atomic_ullong atomic_votes;

static void vote(void)
{
    if (server_fix("use-atomic")) {
        atomic_fetch_add_explicit(&atomic_votes, 1, memory_order_relaxed);
        return;
    }
    pthread_rwlock_wrlock(&votes_rw);
    votes++;
    pthread_rwlock_unlock(&votes_rw);
}

static void *publish(void *unused)
{
    uint64_t total = 0;
    while (!server_stopping()) {
        sleep_us(5000);
        pthread_rwlock_rdlock(&votes_rw);
        total += votes;
        pthread_rwlock_unlock(&votes_rw);
    }
    return total ? NULL : unused;
}

static unsigned handle(struct request *request)
{
    for (unsigned i = 0; i < 200; i++) {
        request->random += checksum(&i, sizeof i, request->random);
        vote();
    }
    return 200;
}

static void setup(void)
{
    server_background(publish, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
