/* SPDX-License-Identifier: MIT */
/* A web server's access log. Every line is written to a log collector while log_mu is
 * held. The collector reads slowly, so write() often blocks. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

enum { PAGES = 64, PAGE = 2000 };

static pthread_mutex_t log_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cache_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_mu = PTHREAD_MUTEX_INITIALIZER;
static int collector[2];
static char pages[PAGES][PAGE];
static uint64_t hits[PAGES], served_bytes;
static char pending[1 << 16];
static size_t pending_bytes;

static void *collect(void *unused)
{
    static char line[256];
    while (recv(collector[1], line, sizeof line, 0) > 0 && !server_stopping()) {
        sleep_us(100);
        (void)!send(collector[1], "", 1, 0);
    }
    shutdown(collector[1], SHUT_RDWR);
    return unused;
}

/* Waits for the collector's acknowledgement, as a reliable log does. */
static void write_log(const char *text, size_t size)
{
    char done;
    if (write(collector[0], text, size) > 0)
        (void)!recv(collector[0], &done, 1, 0);
}

static void log_line(const char *line, size_t size)
{
    pthread_mutex_lock(&log_mu);
    if (server_fix("move-blocking-out")) {
        if (pending_bytes + size < sizeof pending) {
            __builtin_memcpy(pending + pending_bytes, line, size);
            pending_bytes += size;
        }
    } else {
        write_log(line, size);
    }
    pthread_mutex_unlock(&log_mu);
}

static void *flush_pending(void *unused)
{
    static char out[sizeof pending];
    while (!server_stopping()) {
        pthread_mutex_lock(&log_mu);
        size_t size = pending_bytes;
        __builtin_memcpy(out, pending, size);
        pending_bytes = 0;
        pthread_mutex_unlock(&log_mu);
        write_log(out, size < 256 ? size : 256);
        sleep_us(1000);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char line[128];
    uint64_t page = random_below(request, PAGES);
    pthread_mutex_lock(&cache_mu);
    hits[page]++;
    pthread_mutex_unlock(&cache_mu);
    uint64_t tag = checksum(pages[page], PAGE, page);
    int size = snprintf(line, sizeof line, "GET /%llu 200 %llx\n",
                        (unsigned long long)page, (unsigned long long)tag);
    log_line(line, (size_t)size);
    pthread_mutex_lock(&stats_mu);
    served_bytes += PAGE;
    pthread_mutex_unlock(&stats_mu);
    return 1;
}

static void setup(void)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, collector) != 0)
        perror("socketpair");
    server_background(collect, NULL);
    if (server_fix("move-blocking-out"))
        server_background(flush_pending, NULL);
}

static void stop(void)
{
    shutdown(collector[0], SHUT_RDWR);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
