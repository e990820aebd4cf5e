/* SPDX-License-Identifier: MIT */
/* Checks invoices. reject() unlocks the journal for its caller, and the caller unlocks
 * it once more, which may release the lock that another thread has got in the meantime.
 * */
#include <stdlib.h>

#include "server.h"

struct journal {
    uint64_t accepted, rejected;
    pthread_mutex_t journal_mutex;
};

static struct journal *journal;
static pthread_mutex_t currency_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t currency[3];

static bool reject(struct journal *of)
{
    of->rejected++;
    if (!server_fix("fix-misuse"))
        pthread_mutex_unlock(&of->journal_mutex);
    return false;
}

static bool check(struct journal *of, uint64_t amount)
{
    pthread_mutex_lock(&of->journal_mutex);
    bool valid = amount % 50 != 0 || reject(of);
    if (valid)
        of->accepted++;
    pthread_mutex_unlock(&of->journal_mutex);
    return valid;
}

static unsigned handle(struct request *request)
{
    sleep_us(100);
    uint64_t amount = random_below(request, 1u << 20);
    check(journal, amount);
    pthread_mutex_lock(&currency_mutex);
    currency[amount % 3]++;
    pthread_mutex_unlock(&currency_mutex);
    return 1;
}

static void setup(void)
{
    journal = calloc(1, sizeof *journal);
    pthread_mutex_init(&journal->journal_mutex, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
