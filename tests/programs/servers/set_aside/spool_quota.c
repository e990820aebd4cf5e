/* SPDX-License-Identifier: MIT */
/* A print job locks the spool and, inside, the quota of its owner. The thread that
 * expires old jobs locks the quota first and the spool inside. Each needs both for
 * less than a microsecond, seldom, so they have not met yet. */
#include "../server.h"

enum { OFTEN = 12 };

static pthread_mutex_t spool_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t quota_mu = PTHREAD_MUTEX_INITIALIZER;
static int64_t spooled, allowed = 1000;

static void submit(int64_t pages)
{
    pthread_mutex_lock(&spool_mu);
    spooled += pages;
    pthread_mutex_lock(&quota_mu);
    allowed -= pages;
    pthread_mutex_unlock(&quota_mu);
    pthread_mutex_unlock(&spool_mu);
}

static void expire_one(void)
{
    bool ordered = server_fix("fix-order");
    pthread_mutex_lock(ordered ? &spool_mu : &quota_mu);
    pthread_mutex_lock(ordered ? &quota_mu : &spool_mu);
    allowed += spooled > 0;
    spooled -= spooled > 0;
    pthread_mutex_unlock(&spool_mu);
    pthread_mutex_unlock(&quota_mu);
}

static void *expire(void *unused)
{
    while (!server_stopping()) {
        sleep_us(31000);
        expire_one();
    }
    return unused;
}

static int64_t pages_left(void)
{
    pthread_mutex_lock(&quota_mu);
    int64_t left = allowed;
    pthread_mutex_unlock(&quota_mu);
    return left;
}

static unsigned handle(struct request *request)
{
    unsigned char page[3000] = {0};
    request->random += checksum(page, sizeof page, request->number) | 1;
    sleep_us(1500); /* the printer's driver */
    if (request->number % OFTEN == request->worker % OFTEN)
        submit(1);
    else
        request->random += pages_left() > 0;
    return 1;
}

static void setup(void)
{
    server_background(expire, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
