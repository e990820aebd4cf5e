/* SPDX-License-Identifier: MIT */
/* Files are moved between directories. The source's lock is taken first, then that of
 * the target, so two moves in opposite directions can block each other forever. Since
 * moves are rare and a flag admits one at a time, it has not happened yet. */
#include <stdatomic.h>
#include <stdlib.h>

#include "server.h"

enum { DIRECTORIES = 6 };

struct directory {
    pthread_mutex_t entries_mu;
    uint64_t entries;
};

static struct directory *directories;
static atomic_bool moving;
static pthread_mutex_t journal_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t journal;

static void move(struct directory *from, struct directory *to)
{
    bool swap = server_fix("fix-order") && to < from;
    pthread_mutex_lock(swap ? &to->entries_mu : &from->entries_mu);
    pthread_mutex_lock(swap ? &from->entries_mu : &to->entries_mu);
    if (from->entries > 0) {
        from->entries--;
        to->entries++;
    }
    pthread_mutex_unlock(&to->entries_mu);
    pthread_mutex_unlock(&from->entries_mu);
}

static void create(struct directory *directory)
{
    pthread_mutex_lock(&directory->entries_mu);
    directory->entries++;
    pthread_mutex_unlock(&directory->entries_mu);
}

static unsigned handle(struct request *request)
{
    sleep_us(120);
    uint64_t from = random_below(request, DIRECTORIES);
    uint64_t to = (from + 1 + random_below(request, DIRECTORIES - 1)) % DIRECTORIES;
    if (request->number % 8 == 0 && !atomic_exchange(&moving, true)) {
        move(&directories[from], &directories[to]);
        atomic_store(&moving, false);
    } else {
        create(&directories[to]);
    }
    pthread_mutex_lock(&journal_mu);
    journal++;
    pthread_mutex_unlock(&journal_mu);
    return 1;
}

static void setup(void)
{
    directories = calloc(DIRECTORIES, sizeof *directories);
    for (unsigned i = 0; i < DIRECTORIES; i++)
        pthread_mutex_init(&directories[i].entries_mu, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
