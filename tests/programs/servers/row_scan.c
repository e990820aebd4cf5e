/* SPDX-License-Identifier: MIT */
/* Queries scan rows for long without a lock, and publish their totals now and then in a
 * section of a microsecond. More of them than CPUs run, so one waits now and then until
 * another one has a CPU again, but the CPUs have enough to do meanwhile. */
#include "server.h"

enum { ROWS = 22000, TOTALS = 900 };

static pthread_mutex_t totals_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char rows[ROWS], totals[TOTALS];
static pthread_mutex_t queries_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t queries;

static unsigned handle(struct request *request)
{
    uint64_t sum = checksum(rows, sizeof rows, request->number);
    if (request->number % 8 == 0) {
        pthread_mutex_lock(&totals_mu);
        totals[sum % TOTALS] = (unsigned char)checksum(totals, sizeof totals, sum);
        pthread_mutex_unlock(&totals_mu);
    }
    if (request->number % 64 == 0) {
        pthread_mutex_lock(&queries_mu);
        queries += 64;
        pthread_mutex_unlock(&queries_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
