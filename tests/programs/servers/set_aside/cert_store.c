/* SPDX-License-Identifier: MIT */
/* Handshakes look up certificates under a reader-writer lock and check them there.
 * An authority revokes some of them all the time, and needs the lock alone, but there
 * is a handshake at any time. A revocation counts as 300 handshakes. */
#include "../server.h"

enum { CERTIFICATES = 512, CHECKED = 15000, WORTH = 300 };

static pthread_rwlock_t certs_rw;
static pthread_mutex_t sessions_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char certs[CERTIFICATES][64];
static uint64_t sessions;

static uint64_t check(uint64_t name)
{
    static const unsigned char chain[CHECKED];
    pthread_rwlock_rdlock(&certs_rw);
    uint64_t value = checksum(chain, CHECKED, certs[name][0]);
    pthread_rwlock_unlock(&certs_rw);
    return value;
}

static void *revoke(void *unused)
{
    struct request order = {0, 0, 99};
    while (!server_stopping()) {
        uint64_t name = random_below(&order, CERTIFICATES);
        pthread_rwlock_wrlock(&certs_rw);
        certs[name][0] ^= 1;
        pthread_rwlock_unlock(&certs_rw);
        server_count(WORTH);
        sleep_us(100);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    for (unsigned step = 0; step < 8; step++)
        request->random += check(random_below(request, CERTIFICATES)) | 1;
    pthread_mutex_lock(&sessions_mu);
    sessions++;
    pthread_mutex_unlock(&sessions_mu);
    return 8;
}

static void setup(void)
{
    pthread_rwlockattr_t how;
    pthread_rwlockattr_init(&how);
    if (server_fix("prefer-writers"))
        pthread_rwlockattr_setkind_np(&how,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&certs_rw, &how);
    server_background(revoke, NULL);
    server_background(revoke, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
