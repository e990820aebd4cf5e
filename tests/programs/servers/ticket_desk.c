/* SPDX-License-Identifier: MIT */
/* Every returned ticket wakes all of two dozen waiting customers, for whom there is one
 * ticket. The threads that return tickets keep the CPUs busy. */
#include "server.h"

enum { CUSTOMERS = 24, MOST = 8 };

static pthread_mutex_t desk_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static unsigned tickets;

static void give_back(void)
{
    pthread_mutex_lock(&desk_mu);
    if (tickets < MOST) {
        tickets++;
        if (server_fix("signal-one"))
            pthread_cond_signal(&returned);
        else
            pthread_cond_broadcast(&returned);
    }
    pthread_mutex_unlock(&desk_mu);
}

static bool buy(void)
{
    pthread_mutex_lock(&desk_mu);
    while (tickets == 0 && !server_stopping())
        pthread_cond_wait(&returned, &desk_mu);
    bool bought = tickets > 0;
    tickets -= bought;
    pthread_mutex_unlock(&desk_mu);
    return bought;
}

static void *visit(void *unused)
{
    char form[3000] = {'f'};
    while (!server_stopping()) {
        if (!buy())
            continue;
        form[0] = (char)checksum(form, sizeof form, 5);
        sleep_us(80);
        server_count(1);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char ticket[12000] = {'t'};
    request->random += checksum(ticket, sizeof ticket, request->number) & 3;
    give_back();
    return 0;
}

static void setup(void)
{
    for (unsigned i = 0; i < CUSTOMERS; i++)
        server_background(visit, NULL);
}

static void stop(void)
{
    pthread_mutex_lock(&desk_mu);
    pthread_cond_broadcast(&returned);
    pthread_mutex_unlock(&desk_mu);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
