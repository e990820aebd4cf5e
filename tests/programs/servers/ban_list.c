/* SPDX-License-Identifier: MIT */
/* A mail gateway checks senders against a list of banned ones. A report of spam adds a
 * sender to the list, but waits while anybody reads it, which is nearly always. Only
 * mail that was checked against a fresh list counts. */
#include <stdatomic.h>

#include "server.h"

enum { SENDERS = 40000, FRESH_NS = 1500000 };

static struct ban_list {
    pthread_rwlock_t list_lock;
    uint64_t senders[SENDERS];
} bans;
static atomic_ullong updated;
static pthread_mutex_t folders_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t folders[8];

static void *receive_reports(void *unused)
{
    for (uint64_t number = 0; !server_stopping(); number++) {
        pthread_rwlock_wrlock(&bans.list_lock);
        bans.senders[number % SENDERS] = checksum(&number, sizeof number, 1);
        pthread_rwlock_unlock(&bans.list_lock);
        atomic_store(&updated, now_ns());
        sleep_us(250);
    }
    return unused;
}

static bool is_banned(uint64_t sender)
{
    bool found = false;
    pthread_rwlock_rdlock(&bans.list_lock);
    for (unsigned i = 0; i < SENDERS; i++)
        found |= bans.senders[i] % 1000003 == sender;
    pthread_rwlock_unlock(&bans.list_lock);
    return found;
}

static unsigned handle(struct request *request)
{
    bool banned = is_banned(random_below(request, 1000003));
    uint64_t age = now_ns() - atomic_load(&updated);
    if (request->number % 8 == 0) {
        pthread_mutex_lock(&folders_mu);
        folders[banned]++;
        pthread_mutex_unlock(&folders_mu);
    }
    return age < FRESH_NS || age > 1ull << 63;
}

static void setup(void)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    if (server_fix("prefer-writers"))
        pthread_rwlockattr_setkind_np(&attributes,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&bans.list_lock, &attributes);
    server_background(receive_reports, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
