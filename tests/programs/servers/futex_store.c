/* SPDX-License-Identifier: MIT */
/* A store with a futex lock of its own (U. Drepper, "Futexes are tricky"). Its threads
 * wait for that lock, which is invisible to pthread hooks. The pthread locks are
 * idle. */
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server.h"

enum { VALUES = 4096 };

static atomic_int store_word;
static uint64_t values[VALUES];
static pthread_mutex_t names_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t names;

static void store_lock(void)
{
    int state = 0;
    if (atomic_compare_exchange_strong(&store_word, &state, 1))
        return;
    while (atomic_exchange(&store_word, 2) != 0)
        syscall(SYS_futex, &store_word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void store_unlock(void)
{
    if (atomic_exchange(&store_word, 0) == 2)
        syscall(SYS_futex, &store_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static unsigned handle(struct request *request)
{
    uint64_t key = random_below(request, VALUES);
    store_lock();
    values[key] = checksum(values, sizeof values, key);
    store_unlock();
    if (request->number % 32 == 0) {
        pthread_mutex_lock(&names_mu);
        names++;
        pthread_mutex_unlock(&names_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
