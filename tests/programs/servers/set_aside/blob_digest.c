/* SPDX-License-Identifier: MIT */
/* A content store computes the digest of a blob while its table of digests is locked,
 * although the blob belongs to the caller. The list of recent names has a lock that
 * threads wait for as well now and then; it matters far less. */
#include <stdlib.h>
#include <string.h>

#include "../server.h"

enum { SLOTS = 4096, BLOB = 24000, RECENT = 64 };

static struct {
    pthread_mutex_t digests_mu;
    uint64_t slots[SLOTS];
} store = {.digests_mu = PTHREAD_MUTEX_INITIALIZER};

static struct {
    pthread_mutex_t recent_mu;
    uint64_t names[RECENT];
    unsigned next;
} recent = {.recent_mu = PTHREAD_MUTEX_INITIALIZER};

static uint64_t put(const unsigned char *blob, size_t size)
{
    uint64_t digest = 0;
    bool early = server_fix("shorten-section");
    if (early)
        digest = checksum(blob, size, 0xcbf29ce484222325u);
    pthread_mutex_lock(&store.digests_mu);
    if (!early)
        digest = checksum(blob, size, 0xcbf29ce484222325u);
    store.slots[digest % SLOTS] = digest;
    pthread_mutex_unlock(&store.digests_mu);
    return digest;
}

static void remember(uint64_t name)
{
    pthread_mutex_lock(&recent.recent_mu);
    memmove(recent.names + 1, recent.names, sizeof recent.names - sizeof name);
    recent.names[0] = name;
    recent.next++;
    pthread_mutex_unlock(&recent.recent_mu);
}

static unsigned handle(struct request *request)
{
    static __thread unsigned char blob[BLOB];
    uint64_t at = random_below(request, BLOB);
    blob[at]++;
    uint64_t digest = put(blob, sizeof blob);
    for (unsigned i = 0; i < 6; i++)
        remember(digest + i);
    request->random += checksum(blob, BLOB / 8, at) | 1;
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
