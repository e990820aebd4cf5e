/* SPDX-License-Identifier: MIT */
/* Reads of a replica wait until it has applied the log up to a position, each on a
 * condition variable of its own. The applying thread signals all of them after each
 * record: they look, find that their position is far ahead, and wait again. The remedy
 * signals a read when its position is reached. */
#include "../server.h"

enum { MOST = 256, AHEAD = 60 };

struct reader {
    pthread_cond_t advanced;
    uint64_t position; /* 0: does not wait */
} __attribute__((aligned(64)));

static struct {
    pthread_mutex_t log_mu;
    uint64_t applied;
    struct reader readers[MOST];
} replica = {.log_mu = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t lag_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t lag;

static void apply_record(void)
{
    pthread_mutex_lock(&replica.log_mu);
    replica.applied++;
    for (unsigned i = 0; i < server_threads(); i++) {
        struct reader *reader = &replica.readers[i];
        if (server_fix("check-first") && reader->position > replica.applied)
            continue;
        if (reader->position)
            pthread_cond_signal(&reader->advanced);
    }
    pthread_mutex_unlock(&replica.log_mu);
}

static void *apply(void *unused)
{
    unsigned char record[1500] = {0};
    while (!server_stopping()) {
        record[0] += (unsigned char)checksum(record, sizeof record, 11);
        apply_record();
        server_count(1);
    }
    return unused;
}

static void wait_for(struct reader *reader, uint64_t ahead)
{
    pthread_mutex_lock(&replica.log_mu);
    reader->position = replica.applied + ahead;
    while (replica.applied < reader->position && !server_stopping())
        pthread_cond_wait(&reader->advanced, &replica.log_mu);
    reader->position = 0;
    pthread_mutex_unlock(&replica.log_mu);
}

static unsigned handle(struct request *request)
{
    unsigned char row[2000] = {0};
    wait_for(&replica.readers[request->worker], AHEAD);
    request->random += checksum(row, sizeof row, request->number) | 1;
    pthread_mutex_lock(&lag_mu);
    lag += AHEAD;
    pthread_mutex_unlock(&lag_mu);
    return 0;
}

static void wake_all(void)
{
    pthread_mutex_lock(&replica.log_mu);
    for (unsigned i = 0; i < MOST; i++)
        pthread_cond_broadcast(&replica.readers[i].advanced);
    pthread_mutex_unlock(&replica.log_mu);
}

static void setup(void)
{
    for (unsigned i = 0; i < MOST; i++)
        pthread_cond_init(&replica.readers[i].advanced, NULL);
    server_background(apply, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, wake_all, false};
    return server_main(count, words, &service);
}
