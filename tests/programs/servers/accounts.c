/* SPDX-License-Identifier: MIT */
/* Payments lock accounts_mu and then audit_mu; an occasional report locks them in the
 * opposite order. A gate that is not a lock (requests pause for the report) has kept
 * them from deadlocking so far. */
#include <stdatomic.h>

#include "server.h"

static pthread_mutex_t accounts_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t audit_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t rates_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t balance[256], audited, rates[32], reports;
static atomic_bool reporting;
static atomic_int paying;

static unsigned handle(struct request *request)
{
    sleep_us(100);
    atomic_fetch_add(&paying, 1);
    if (atomic_load(&reporting)) {
        atomic_fetch_sub(&paying, 1);
        return 0;
    }
    pthread_mutex_lock(&rates_mu);
    uint64_t rate = rates[random_below(request, 32)];
    pthread_mutex_unlock(&rates_mu);
    uint64_t amount = checksum(rates, sizeof rates, rate) % 100;
    pthread_mutex_lock(&accounts_mu);
    balance[random_below(request, 256)] += amount;
    pthread_mutex_lock(&audit_mu);
    audited++;
    pthread_mutex_unlock(&audit_mu);
    pthread_mutex_unlock(&accounts_mu);
    atomic_fetch_sub(&paying, 1);
    return 1;
}

static void print_report(void)
{
    bool in_order = server_fix("fix-order");
    pthread_mutex_lock(in_order ? &accounts_mu : &audit_mu);
    uint64_t seen = audited;
    pthread_mutex_lock(in_order ? &audit_mu : &accounts_mu);
    reports += checksum(balance, sizeof balance, seen) & 1;
    pthread_mutex_unlock(&accounts_mu);
    pthread_mutex_unlock(&audit_mu);
}

static void *report(void *unused)
{
    while (!server_stopping()) {
        sleep_us(20000);
        atomic_store(&reporting, true);
        while (atomic_load(&paying) > 0)
            sleep_us(100);
        print_report();
        atomic_store(&reporting, false);
    }
    return unused;
}

static void setup(void)
{
    server_background(report, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
