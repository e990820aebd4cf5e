/* SPDX-License-Identifier: MIT */
/* A directory service. The table's lock is held not only for the lookup, but also while
 * the entry is processed, although each entry has a lock of its own. */
#include <stdlib.h>

#include "server.h"

enum { ENTRIES = 512, RECORD = 6000 };

struct entry {
    pthread_mutex_t lock;
    uint64_t id, revision;
    char record[RECORD];
};

static struct directory {
    pthread_mutex_t lock;
    struct entry *entries[ENTRIES];
    uint64_t lookups;
} directory;
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t journal;

static void __attribute__((noinline)) update_entry(struct entry *entry)
{
    pthread_mutex_lock(&entry->lock);
    entry->revision = checksum(entry->record, RECORD, entry->revision);
    pthread_mutex_unlock(&entry->lock);
}

static unsigned handle(struct request *request)
{
    uint64_t id = random_below(request, ENTRIES);
    pthread_mutex_lock(&directory.lock);
    directory.lookups++;
    struct entry *entry = directory.entries[id];
    if (server_fix("unnest")) {
        pthread_mutex_unlock(&directory.lock);
        update_entry(entry);
    } else {
        update_entry(entry);
        pthread_mutex_unlock(&directory.lock);
    }
    if (request->number % 16 == 0) {
        pthread_mutex_lock(&journal_lock);
        journal++;
        pthread_mutex_unlock(&journal_lock);
    }
    return 1;
}

static void setup(void)
{
    pthread_mutex_init(&directory.lock, NULL);
    for (unsigned i = 0; i < ENTRIES; i++) {
        directory.entries[i] = calloc(1, sizeof(struct entry));
        pthread_mutex_init(&directory.entries[i]->lock, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
