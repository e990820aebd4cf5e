/* SPDX-License-Identifier: MIT */
/* A proxy counts its open streams and remembers the peak. Each stream that opens or
 * closes locks the gauge for two or three instructions. The remedy uses atomic
 * operations. A thread that rotates the log has its own mutex nearly all the time. */
#include <stdatomic.h>

#include "../server.h"

enum { STREAMS = 12 };

static struct {
    pthread_mutex_t gauge_mu;
    long open, peak;
} gauge = {.gauge_mu = PTHREAD_MUTEX_INITIALIZER};

static atomic_long atomic_open, atomic_peak;
static pthread_mutex_t rotation_mu = PTHREAD_MUTEX_INITIALIZER;

static void adjust_atomic(long by)
{
    long open = atomic_fetch_add_explicit(&atomic_open, by, memory_order_relaxed) + by;
    long peak = atomic_load_explicit(&atomic_peak, memory_order_relaxed);
    while (open > peak && !atomic_compare_exchange_weak(&atomic_peak, &peak, open))
        ;
}

static void adjust(long by)
{
    if (server_fix("use-atomic")) {
        adjust_atomic(by);
        return;
    }
    pthread_mutex_lock(&gauge.gauge_mu);
    gauge.open += by;
    if (gauge.open > gauge.peak)
        gauge.peak = gauge.open;
    pthread_mutex_unlock(&gauge.gauge_mu);
}

static void *rotate_log(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&rotation_mu);
        sleep_us(4000);
        pthread_mutex_unlock(&rotation_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char header[40] = "GET /";
    for (unsigned i = 0; i < STREAMS; i++) {
        adjust(1);
        request->random += checksum(header, sizeof header, i);
        adjust(-1);
    }
    return STREAMS;
}

static void setup(void)
{
    server_background(rotate_log, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
