/* SPDX-License-Identifier: MIT */
/* A replica applies the log of its primary: it locks the state for each entry, and
 * again at once for the next. Queries, which need the state for a moment, hardly
 * ever find the mutex free. */
#include "server.h"

enum { PAGES = 96, PAGE = 512 };

static pthread_mutex_t state_mu = PTHREAD_MUTEX_INITIALIZER;
static struct fair_lock fair_state = FAIR_LOCK_INITIALIZER;
static unsigned char pages[PAGES][PAGE];
static pthread_mutex_t clients_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t clients;

static void lock_state(void)
{
    if (server_fix("fair-lock"))
        fair_lock_acquire(&fair_state);
    else
        pthread_mutex_lock(&state_mu);
}

static void unlock_state(void)
{
    if (server_fix("fair-lock"))
        fair_lock_release(&fair_state);
    else
        pthread_mutex_unlock(&state_mu);
}

static void *replay(void *unused)
{
    uint64_t sum = 1;
    for (uint64_t entry = 0; !server_stopping(); entry++) {
        lock_state();
        for (unsigned i = 0; i < PAGES; i++)
            sum = checksum(pages[(entry + i) % PAGES], PAGE, sum);
        pages[entry % PAGES][sum % PAGE] = (unsigned char)entry;
        unlock_state();
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char plan[2000] = {'P'};
    sleep_us(40); /* the network */
    uint64_t key = checksum(plan, sizeof plan, request->random);
    lock_state();
    request->random += pages[key % PAGES][key / PAGES % PAGE];
    unlock_state();
    pthread_mutex_lock(&clients_mu);
    clients++;
    pthread_mutex_unlock(&clients_mu);
    return 1;
}

static void setup(void)
{
    server_background(replay, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
