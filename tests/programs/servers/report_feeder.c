/* SPDX-License-Identifier: MIT */
/* Workers sleep on a condition variable because the only thread that prepares reports
 * is busy computing. Neither more workers nor other locks would help. */
#include "server.h"

enum { QUEUE = 32, DATA = 300000 };

static struct {
    pthread_mutex_t queue_lock;
    pthread_cond_t prepared;
    uint64_t reports[QUEUE];
    unsigned first, next;
} feed = {.queue_lock = PTHREAD_MUTEX_INITIALIZER,
          .prepared = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t outer_lock = PTHREAD_MUTEX_INITIALIZER;
static char data[DATA];
static uint64_t sent;

static void *prepare(void *unused)
{
    uint64_t report = 0;
    while (!server_stopping()) {
        report = checksum(data, DATA, report);
        pthread_mutex_lock(&feed.queue_lock);
        if (feed.next - feed.first < QUEUE)
            feed.reports[feed.next++ % QUEUE] = report;
        pthread_cond_signal(&feed.prepared);
        pthread_mutex_unlock(&feed.queue_lock);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t report = 0;
    pthread_mutex_lock(&feed.queue_lock);
    while (feed.first == feed.next && !server_stopping())
        pthread_cond_wait(&feed.prepared, &feed.queue_lock);
    bool found = feed.first != feed.next;
    if (found)
        report = feed.reports[feed.first++ % QUEUE];
    pthread_mutex_unlock(&feed.queue_lock);
    uint64_t text = checksum(data, 20000, report + request->number);
    pthread_mutex_lock(&outer_lock);
    sent += text != 0;
    pthread_mutex_unlock(&outer_lock);
    return found;
}

static void stop(void)
{
    pthread_mutex_lock(&feed.queue_lock);
    pthread_cond_broadcast(&feed.prepared);
    pthread_mutex_unlock(&feed.queue_lock);
}

static void setup(void)
{
    server_background(prepare, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
