/* SPDX-License-Identifier: MIT */
/* A crawler marks the addresses that it has seen in a bitmap, under a mutex. The
 * section is one instruction. Another mutex is held nearly always by the thread that
 * writes the archive, and nobody else wants it. */
#include "server.h"

enum { WORDS = 1 << 15 };

static pthread_mutex_t seen_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t seen[WORDS];
static pthread_mutex_t archive_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t archived;

static bool mark(uint64_t page)
{
    uint64_t *word = &seen[page / 64 % WORDS], bit = (uint64_t)1 << page % 64;
    if (server_fix("use-atomic"))
        return (__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) != 0;
    pthread_mutex_lock(&seen_mu);
    bool known = (*word & bit) != 0;
    *word |= bit;
    pthread_mutex_unlock(&seen_mu);
    return known;
}

static void *write_archive(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&archive_mu);
        for (unsigned i = 0; i < 10 && !server_stopping(); i++)
            sleep_us(2000); /* the disk */
        archived++;
        pthread_mutex_unlock(&archive_mu);
        sleep_us(100);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t page = request->random, known = 0;
    for (unsigned i = 0; i < 64; i++) {
        page = checksum(&page, sizeof page, i);
        known += mark(page);
    }
    request->random += known + 0x9e3779b97f4a7c15u;
    return 64;
}

static void setup(void)
{
    server_background(write_archive, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
