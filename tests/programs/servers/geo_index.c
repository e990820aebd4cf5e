/* SPDX-License-Identifier: MIT */
/* An index of positions. Each insertion sorts the whole index again, and excludes all
 * lookups meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { POSITIONS = 12000 };

static struct {
    uint32_t sorted[POSITIONS];
    pthread_rwlock_t rw;
} geo = {.rw = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP};
static pthread_mutex_t quota_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t quota;

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void insert_positions(struct request *source, uint32_t *positions)
{
    for (unsigned i = 0; i < POSITIONS; i += 3)
        positions[i] = (uint32_t)random_below(source, 1 << 30);
    qsort(positions, POSITIONS, sizeof *positions, compare);
}

static void *receive_positions(void *unused)
{
    static uint32_t shadow[POSITIONS];
    struct request source = {0, 0, 99};
    while (!server_stopping()) {
        if (server_fix("shorten-writes")) {
            insert_positions(&source, shadow);
            pthread_rwlock_wrlock(&geo.rw);
            memcpy(geo.sorted, shadow, sizeof shadow);
            pthread_rwlock_unlock(&geo.rw);
        } else {
            pthread_rwlock_wrlock(&geo.rw);
            insert_positions(&source, geo.sorted);
            pthread_rwlock_unlock(&geo.rw);
        }
        sleep_us(40);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint32_t wanted = (uint32_t)random_below(request, 1 << 30);
    if (request->number % 64 == 0) {
        pthread_mutex_lock(&quota_mu);
        quota++;
        pthread_mutex_unlock(&quota_mu);
    }
    pthread_rwlock_rdlock(&geo.rw);
    const uint32_t *found =
        bsearch(&wanted, geo.sorted, POSITIONS, sizeof wanted, compare);
    uint64_t key = found ? *found : wanted;
    pthread_rwlock_unlock(&geo.rw);
    return checksum(geo.sorted, 300, key) != 1;
}

static void setup(void)
{
    server_background(receive_positions, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
