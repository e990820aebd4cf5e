/* SPDX-License-Identifier: MIT */
/* A replicated log: appenders may work in any order but commit in the order of their
 * tickets. Each commit wakes all waiting threads, although only one of them is next. */
#include "server.h"

enum { WINDOW = 64, APPENDERS = 24 };

static struct {
    pthread_mutex_t m;
    pthread_cond_t turn;
    pthread_cond_t turns[WINDOW]; /* used by the remedy: one for each ticket */
    uint64_t next_ticket, committed;
} seq;
static pthread_mutex_t segment_m = PTHREAD_MUTEX_INITIALIZER;
static uint64_t segment[128];

static pthread_cond_t *turn_of(uint64_t ticket)
{
    return server_fix("signal-one") ? &seq.turns[ticket % WINDOW] : &seq.turn;
}

static bool commit(uint64_t digest)
{
    pthread_mutex_lock(&seq.m);
    uint64_t ticket = seq.next_ticket++;
    while (seq.committed != ticket && !server_stopping())
        pthread_cond_wait(turn_of(ticket), &seq.m);
    pthread_mutex_unlock(&seq.m);
    if (server_stopping())
        return false;
    sleep_us(20); /* the replica's acknowledgement */
    pthread_mutex_lock(&segment_m);
    segment[ticket % 128] = digest;
    pthread_mutex_unlock(&segment_m);
    pthread_mutex_lock(&seq.m);
    seq.committed++;
    pthread_cond_broadcast(turn_of(seq.committed));
    pthread_mutex_unlock(&seq.m);
    return true;
}

static unsigned handle(struct request *request)
{
    return commit(checksum(request, sizeof *request, 0));
}

static void *append(void *unused)
{
    while (!server_stopping())
        server_count(commit(1));
    return unused;
}

static void stop(void)
{
    pthread_mutex_lock(&seq.m);
    pthread_cond_broadcast(&seq.turn);
    for (unsigned i = 0; i < WINDOW; i++)
        pthread_cond_broadcast(&seq.turns[i]);
    pthread_mutex_unlock(&seq.m);
}

static void setup(void)
{
    pthread_mutex_init(&seq.m, NULL);
    pthread_cond_init(&seq.turn, NULL);
    for (unsigned i = 0; i < WINDOW; i++)
        pthread_cond_init(&seq.turns[i], NULL);
    unsigned appenders = server_fix("fewer-threads") ? 1 : APPENDERS;
    for (unsigned i = 0; i < appenders; i++)
        server_background(append, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
