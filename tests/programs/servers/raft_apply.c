/* SPDX-License-Identifier: MIT */
/* A replica applies its log in batches, one right after the other, under the lock of
 * the state that clients read. Between two batches the lock is free for less time than
 * a client needs to wake up. */
#include "server.h"

enum { STATE = 1 << 17 };

static struct replica {
    pthread_mutex_t state_lock;
    struct fair_lock fair;
    char *state;
    uint64_t applied;
} * replica;
static char state[STATE];
static pthread_mutex_t leases_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t leases[32];

static void lock_state(void)
{
    if (server_fix("fair-lock"))
        fair_lock_acquire(&replica->fair);
    else
        pthread_mutex_lock(&replica->state_lock);
}

static void unlock_state(void)
{
    if (server_fix("fair-lock"))
        fair_lock_release(&replica->fair);
    else
        pthread_mutex_unlock(&replica->state_lock);
}

static void *apply_log(void *unused)
{
    while (!server_stopping()) {
        lock_state();
        replica->applied = checksum(replica->state, STATE, replica->applied);
        replica->state[replica->applied % STATE]++;
        unlock_state();
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(400); /* the client's next read */
    uint64_t key = random_below(request, STATE - 64);
    lock_state();
    uint64_t value = checksum(replica->state + key, 64, key);
    unlock_state();
    pthread_mutex_lock(&leases_lock);
    leases[value % 32]++;
    pthread_mutex_unlock(&leases_lock);
    return 1;
}

static void setup(void)
{
    static struct replica only = {.fair = FAIR_LOCK_INITIALIZER, .state = state};
    replica = &only;
    pthread_mutex_init(&replica->state_lock, NULL);
    server_background(apply_log, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
