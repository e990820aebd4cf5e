/* SPDX-License-Identifier: MIT */
/* A wire transfer locks the account that pays, then the one that is paid. Two
 * transfers in opposite directions can therefore wait for each other forever. Both
 * must be within the same fraction of a microsecond, so nobody has seen it. */
#include <stdlib.h>

#include "server.h"

enum { ACCOUNTS = 5, RARE = 40 };

struct account {
    pthread_mutex_t account_mu;
    int64_t balance;
};

static struct account *book[ACCOUNTS];

static void transfer(struct account *payer, struct account *payee, int64_t amount)
{
    struct account *first = payer, *second = payee;
    if (server_fix("fix-order") && payee < payer) {
        first = payee;
        second = payer;
    }
    pthread_mutex_lock(&first->account_mu);
    pthread_mutex_lock(&second->account_mu);
    payer->balance -= amount;
    payee->balance += amount;
    pthread_mutex_unlock(&second->account_mu);
    pthread_mutex_unlock(&first->account_mu);
}

static int64_t balance_of(struct account *account)
{
    pthread_mutex_lock(&account->account_mu);
    int64_t balance = account->balance;
    pthread_mutex_unlock(&account->account_mu);
    return balance;
}

static void *run_standing_orders(void *unused)
{
    for (uint64_t order = 0; !server_stopping(); order++) {
        sleep_us(9000);
        transfer(book[order % ACCOUNTS], book[(order + 2) % ACCOUNTS], 10);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(90); /* the teller */
    uint64_t payer = random_below(request, ACCOUNTS);
    uint64_t payee = (payer + 1 + random_below(request, ACCOUNTS - 1)) % ACCOUNTS;
    if (request->number % RARE == request->worker)
        transfer(book[payer], book[payee], 1);
    else
        request->random += balance_of(book[payer]) > 0;
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < ACCOUNTS; i++) {
        book[i] = aligned_alloc(128, 128);
        *book[i] = (struct account){.balance = 1000000};
        pthread_mutex_init(&book[i]->account_mu, NULL);
    }
    server_background(run_standing_orders, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
