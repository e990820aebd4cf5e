/* SPDX-License-Identifier: MIT */
/* Forty senders wait for tokens of a rate limiter. Each acknowledgement of the peer
 * yields one token, for which the limiter wakes all of them. */
#include "server.h"

enum { SENDERS = 40, MOST = 12 };

static struct bucket {
    pthread_mutex_t bucket_mu;
    pthread_cond_t refilled;
    unsigned tokens;
} bucket = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void add_token(void)
{
    pthread_mutex_lock(&bucket.bucket_mu);
    if (bucket.tokens < MOST) {
        bucket.tokens++;
        if (server_fix("signal-one"))
            pthread_cond_signal(&bucket.refilled);
        else
            pthread_cond_broadcast(&bucket.refilled);
    }
    pthread_mutex_unlock(&bucket.bucket_mu);
}

static bool take_token(void)
{
    pthread_mutex_lock(&bucket.bucket_mu);
    while (bucket.tokens == 0 && !server_stopping())
        pthread_cond_wait(&bucket.refilled, &bucket.bucket_mu);
    bool taken = bucket.tokens > 0;
    bucket.tokens -= taken;
    pthread_mutex_unlock(&bucket.bucket_mu);
    return taken;
}

static void *transmit(void *unused)
{
    char segment[1400] = {'S'};
    while (!server_stopping()) {
        if (!take_token())
            continue;
        segment[0] = (char)checksum(segment, sizeof segment, 7);
        sleep_us(60); /* the network */
        server_count(1);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char acknowledgement[9000] = {'A'};
    request->random +=
        checksum(acknowledgement, sizeof acknowledgement, request->number);
    add_token();
    return 0;
}

static void setup(void)
{
    unsigned senders = server_fix("fewer-threads") ? 2 : SENDERS;
    for (unsigned i = 0; i < senders; i++)
        server_background(transmit, NULL);
}

static void stop(void)
{
    pthread_mutex_lock(&bucket.bucket_mu);
    pthread_cond_broadcast(&bucket.refilled);
    pthread_mutex_unlock(&bucket.bucket_mu);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
