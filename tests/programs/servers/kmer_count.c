/* SPDX-License-Identifier: MIT */
/* Each thread counts the words of a genome in a table of its own, which needs the
 * CPU. The mutex of the progress line is taken often, but there is hardly ever
 * anybody else. */
#include <stdlib.h>

#include "server.h"

enum { TABLE = 1 << 14, READ = 3000 };

static uint32_t *tables;
static pthread_mutex_t progress_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t progress;

static void show_progress(uint64_t words)
{
    if (server_fix("use-atomic")) {
        __atomic_fetch_add(&progress, words, __ATOMIC_RELAXED);
        return;
    }
    pthread_mutex_lock(&progress_mu);
    progress += words;
    pthread_mutex_unlock(&progress_mu);
}

static unsigned handle(struct request *request)
{
    uint32_t *table = tables + (size_t)request->worker * TABLE;
    uint64_t kmer = request->random;
    for (unsigned i = 0; i < READ; i++) {
        kmer = kmer * 6364136223846793005u + 1442695040888963407u;
        table[checksum(&kmer, 5, i) % TABLE]++;
    }
    request->random = kmer | 1;
    show_progress(READ);
    return 1;
}

static void setup(void)
{
    tables = calloc((size_t)server_threads() * TABLE, sizeof *tables);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
