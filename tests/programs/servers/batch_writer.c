/* SPDX-License-Identifier: MIT */
/* A writer stores records in batches of BATCH, but is woken for every record: it finds
 * too few records and waits again. */
#include <string.h>

#include "server.h"

enum { BATCH = 64, ROOM = 1024 };

static pthread_mutex_t batch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t batch_ready = PTHREAD_COND_INITIALIZER;
static pthread_cond_t batch_room = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t records[ROOM], index_of[256];
static unsigned waiting_records;

static unsigned handle(struct request *request)
{
    uint64_t record = checksum(index_of, 1500, request->number);
    pthread_mutex_lock(&batch_lock);
    while (waiting_records == ROOM && !server_stopping())
        pthread_cond_wait(&batch_room, &batch_lock);
    if (waiting_records < ROOM)
        records[waiting_records++] = record;
    if (!server_fix("check-first") || waiting_records == BATCH)
        pthread_cond_signal(&batch_ready);
    pthread_mutex_unlock(&batch_lock);
    return 1;
}

static void *store_batches(void *unused)
{
    uint64_t copy[ROOM];
    while (!server_stopping()) {
        pthread_mutex_lock(&batch_lock);
        while (waiting_records < BATCH && !server_stopping())
            pthread_cond_wait(&batch_ready, &batch_lock);
        unsigned taken = waiting_records;
        memcpy(copy, records, taken * sizeof *records);
        waiting_records = 0;
        pthread_cond_broadcast(&batch_room);
        pthread_mutex_unlock(&batch_lock);
        pthread_mutex_lock(&index_lock);
        for (unsigned i = 0; i < taken; i++)
            index_of[copy[i] % 256] = copy[i];
        pthread_mutex_unlock(&index_lock);
    }
    return unused;
}

static void stop(void)
{
    pthread_mutex_lock(&batch_lock);
    pthread_cond_broadcast(&batch_ready);
    pthread_cond_broadcast(&batch_room);
    pthread_mutex_unlock(&batch_lock);
}

static void setup(void)
{
    server_background(store_batches, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
