/* SPDX-License-Identifier: MIT */
/* A thread that asks for a flush waits on the condition variable of the flusher, but it
 * has also locked the table, which the flusher needs. Neither continues, nor does any
 * request. The remedy unlocks the table before it waits. */
#include "server.h"

enum { ASKS = 400 };

static pthread_mutex_t table_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t table[64];
static pthread_mutex_t flush_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static pthread_cond_t flushed = PTHREAD_COND_INITIALIZER;
static uint64_t asked, done;

static void *flush(void *unused)
{
    pthread_mutex_lock(&flush_mu);
    while (!server_stopping()) {
        while (asked == done && !server_stopping())
            pthread_cond_wait(&wanted, &flush_mu);
        uint64_t next = asked;
        pthread_mutex_unlock(&flush_mu);
        pthread_mutex_lock(&table_mu);
        table[next % 64] = checksum(table, sizeof table, next);
        pthread_mutex_unlock(&table_mu);
        pthread_mutex_lock(&flush_mu);
        done = next;
        pthread_cond_broadcast(&flushed);
    }
    pthread_mutex_unlock(&flush_mu);
    return unused;
}

static void wait_for_flush(void)
{
    pthread_mutex_lock(&flush_mu);
    uint64_t mine = ++asked;
    pthread_cond_signal(&wanted);
    while (done < mine && !server_stopping())
        pthread_cond_wait(&flushed, &flush_mu);
    pthread_mutex_unlock(&flush_mu);
}

static unsigned handle(struct request *request)
{
    sleep_us(100);
    pthread_mutex_lock(&table_mu);
    table[request->number % 64] += request->worker;
    if (request->worker == 0 && request->number == ASKS && server_fix("none"))
        wait_for_flush();
    pthread_mutex_unlock(&table_mu);
    if (request->worker == 0 && request->number == ASKS && !server_fix("none"))
        wait_for_flush();
    return 1;
}

static void setup(void)
{
    server_background(flush, NULL);
}

static void stop(void)
{
    if (pthread_mutex_trylock(&flush_mu) == 0) {
        pthread_cond_broadcast(&wanted);
        pthread_mutex_unlock(&flush_mu);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", NULL};
    static const struct service service = {fixes, setup, handle, stop, true};
    return server_main(count, words, &service);
}
