/* SPDX-License-Identifier: MIT */
/* Orders are matched in order of arrival. Each one draws a number and waits until it is
 * called, so every short match has to wait until the next thread in line has woken
 * up. */
#include "server.h"

enum { PRICES = 128, LINE = 256 };

/* A lock that is handed over in order, as exchanges require. */
static struct {
    pthread_mutex_t desk;
    pthread_cond_t called[LINE];
    uint64_t number, serving;
} line = {.desk = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t book_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tape_mu = PTHREAD_MUTEX_INITIALIZER;
static uint32_t book[PRICES];
static uint64_t tape;

static void enter(void)
{
    if (server_fix("unfair-lock")) {
        pthread_mutex_lock(&book_mu);
        return;
    }
    pthread_mutex_lock(&line.desk);
    uint64_t own = line.number++;
    while (line.serving != own)
        pthread_cond_wait(&line.called[own % LINE], &line.desk);
    pthread_mutex_unlock(&line.desk);
}

static void leave(void)
{
    if (server_fix("unfair-lock")) {
        pthread_mutex_unlock(&book_mu);
        return;
    }
    pthread_mutex_lock(&line.desk);
    line.serving++;
    pthread_cond_signal(&line.called[line.serving % LINE]);
    pthread_mutex_unlock(&line.desk);
}

static unsigned handle(struct request *request)
{
    uint64_t order = checksum(request, sizeof *request, 5);
    enter();
    book[order % PRICES]++;
    uint64_t best = checksum(book, sizeof book, order);
    leave();
    if (best % 256 == 0) {
        pthread_mutex_lock(&tape_mu);
        tape++;
        pthread_mutex_unlock(&tape_mu);
    }
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < LINE; i++)
        pthread_cond_init(&line.called[i], NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
