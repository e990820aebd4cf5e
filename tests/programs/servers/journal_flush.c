/* SPDX-License-Identifier: MIT */
/* When the journal is full, a thread waits for the checkpointer to free some of it.
 * It waits with journal_mu locked, which the checkpointer needs, so all hang. The
 * condition variable belongs to another mutex. */
#include "server.h"

enum { RECORDS = 400 };

static struct journal {
    pthread_mutex_t journal_mu;
    uint64_t used, written;
} journal = {.journal_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t space_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t space_freed = PTHREAD_COND_INITIALIZER;
static uint64_t free_records = RECORDS;
static pthread_mutex_t index_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t entries[32];

static void reserve(void)
{
    pthread_mutex_lock(&space_mu);
    while (free_records == 0)
        pthread_cond_wait(&space_freed, &space_mu);
    free_records--;
    pthread_mutex_unlock(&space_mu);
}

static void append(uint64_t record)
{
    if (server_fix("release"))
        reserve();
    pthread_mutex_lock(&journal.journal_mu);
    if (!server_fix("release"))
        reserve();
    journal.used++;
    journal.written ^= record;
    pthread_mutex_unlock(&journal.journal_mu);
}

static void *checkpoint(void *unused)
{
    while (!server_stopping()) {
        sleep_us(150000);
        pthread_mutex_lock(&journal.journal_mu);
        uint64_t freed = journal.used;
        journal.used = 0;
        pthread_mutex_unlock(&journal.journal_mu);
        pthread_mutex_lock(&space_mu);
        free_records += freed;
        pthread_cond_broadcast(&space_freed);
        pthread_mutex_unlock(&space_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(100);
    uint64_t record = random_below(request, 1000);
    pthread_mutex_lock(&index_mu);
    entries[record % 32]++;
    pthread_mutex_unlock(&index_mu);
    append(record);
    return 1;
}

static void setup(void)
{
    server_background(checkpoint, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", NULL};
    static const struct service service = {fixes, setup, handle, NULL, true};
    return server_main(count, words, &service);
}
