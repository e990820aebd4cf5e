/* SPDX-License-Identifier: MIT */
/* A store that came with a runtime of its own: its lock is a word that threads wait on
 * by the system call futex(). pthread's functions know nothing of it. The mutex of the
 * statistics is pthread's, busy, and harmless. */
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../server.h"

enum { FREE, HELD, CONTENDED, ROWS = 60000 };

static struct {
    atomic_int word;
    unsigned char rows[ROWS];
} store;

static pthread_mutex_t statistics_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t statistics;

static void runtime_lock(atomic_int *word)
{
    int seen = FREE;
    if (atomic_compare_exchange_strong(word, &seen, HELD))
        return;
    while (atomic_exchange(word, CONTENDED) != FREE)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, CONTENDED, NULL, NULL, 0);
}

static void runtime_unlock(atomic_int *word)
{
    if (atomic_exchange(word, FREE) == CONTENDED)
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static uint64_t scan(uint64_t key)
{
    bool copies = server_fix("shorten-section");
    if (copies)
        return checksum(store.rows, ROWS, key);
    runtime_lock(&store.word);
    uint64_t found = checksum(store.rows, ROWS, key);
    store.rows[found % ROWS]++;
    runtime_unlock(&store.word);
    return found;
}

static unsigned handle(struct request *request)
{
    request->random += scan(random_below(request, 1000)) | 1;
    sleep_us(20);
    for (unsigned i = 0; i < 3; i++) {
        pthread_mutex_lock(&statistics_mu);
        statistics++;
        pthread_mutex_unlock(&statistics_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
