/* SPDX-License-Identifier: MIT */
/* A trace buffer whose writers spin for their turn; each copies and checks a record of
 * some kilobytes. Serving threads outnumber the CPUs. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { RECORD = 2500, RECORDS = 64 };

struct ring {
    pthread_spinlock_t spin;
    pthread_mutex_t mutex; /* used by the remedy */
    uint64_t next, check;
    char records[RECORDS][RECORD];
};

static struct ring *ring;
static pthread_rwlock_t levels_rw = PTHREAD_RWLOCK_INITIALIZER;
static int levels[8];

static void append(const char *record)
{
    bool blocking = server_fix("use-mutex");
    if (blocking)
        pthread_mutex_lock(&ring->mutex);
    else
        pthread_spin_lock(&ring->spin);
    char *slot = ring->records[ring->next++ % RECORDS];
    memcpy(slot, record, RECORD);
    ring->check = checksum(slot, RECORD, ring->check);
    if (blocking)
        pthread_mutex_unlock(&ring->mutex);
    else
        pthread_spin_unlock(&ring->spin);
}

static unsigned handle(struct request *request)
{
    char record[RECORD];
    pthread_rwlock_rdlock(&levels_rw);
    int level = levels[request->worker % 8];
    pthread_rwlock_unlock(&levels_rw);
    memset(record, level + (int)(request->number % 64), sizeof record);
    uint64_t tag = checksum(record, 600, request->number);
    memcpy(record, &tag, sizeof tag);
    append(record);
    return 1;
}

static void setup(void)
{
    ring = calloc(1, sizeof *ring);
    pthread_spin_init(&ring->spin, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_init(&ring->mutex, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
