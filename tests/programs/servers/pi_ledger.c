/* SPDX-License-Identifier: MIT */
/* A ledger was given a mutex with priority inheritance "to be safe", though all its
 * threads have one priority. The kernel hands such a mutex to the longest waiter,
 * which must first be woken, so each short section costs a change of threads. */
#include "server.h"

enum { ENTRIES = 256, POSTINGS = 16 };

static struct ledger {
    pthread_mutex_t ledger_mu;
    uint64_t entries[ENTRIES], balance;
} ledger;

static void post(uint64_t account, uint64_t amount)
{
    pthread_mutex_lock(&ledger.ledger_mu);
    ledger.entries[account] += amount;
    ledger.balance = checksum(&ledger.entries[account & ~31ull], 1000, ledger.balance);
    pthread_mutex_unlock(&ledger.ledger_mu);
}

static unsigned handle(struct request *request)
{
    char voucher[900] = {'V'};
    for (unsigned i = 0; i < POSTINGS; i++) {
        uint64_t amount = checksum(voucher, sizeof voucher, i) % 500;
        post(random_below(request, ENTRIES - 128), amount);
    }
    return POSTINGS;
}

static void setup(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    if (!server_fix("unfair-lock"))
        pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&ledger.ledger_mu, &kind);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
