/* SPDX-License-Identifier: MIT */
/* Threads evaluate policies under a reader-writer lock, nearly without a pause. The
 * thread that installs changed policies finds a reader there whenever it looks,
 * since the lock prefers readers. An installed change counts as many evaluations. */
#include <stdlib.h>

#include "server.h"

enum { POLICIES = 120, TEXT = 1024, WORTH = 60 };

struct store {
    pthread_rwlock_t policies_rw;
    unsigned char text[POLICIES][TEXT];
    uint64_t version;
};

static struct store *store;
static pthread_mutex_t denied_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t denied;

static uint64_t evaluate(uint64_t user)
{
    pthread_rwlock_rdlock(&store->policies_rw);
    uint64_t verdict = user ^ store->version;
    for (unsigned i = 0; i < POLICIES; i++)
        verdict = checksum(store->text[i], TEXT, verdict);
    pthread_rwlock_unlock(&store->policies_rw);
    return verdict;
}

static void *install(void *unused)
{
    for (uint64_t change = 0; !server_stopping(); change++) {
        pthread_rwlock_wrlock(&store->policies_rw);
        store->text[change % POLICIES][change % TEXT]++;
        store->version++;
        pthread_rwlock_unlock(&store->policies_rw);
        server_count(WORTH);
        sleep_us(400);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t verdict = evaluate(request->number);
    if (verdict % 16 == 0) {
        pthread_mutex_lock(&denied_mu);
        denied++;
        pthread_mutex_unlock(&denied_mu);
    }
    return 1;
}

static void setup(void)
{
    pthread_rwlockattr_t kind;
    store = calloc(1, sizeof *store);
    pthread_rwlockattr_init(&kind);
    if (server_fix("prefer-writers"))
        pthread_rwlockattr_setkind_np(&kind,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&store->policies_rw, &kind);
    server_background(install, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
