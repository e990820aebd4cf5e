/* SPDX-License-Identifier: MIT */
/* A server logs to a pipe, as services under a supervisor do. The supervisor reads
 * slowly, so the pipe is full, and a thread blocks in write() with the log's lock.
 * The remedy is a queue in memory that drops lines when it is full. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

enum { LINE = 128, QUEUE = 256 };

static int ends[2];
static pthread_mutex_t stderr_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t routes_mu = PTHREAD_MUTEX_INITIALIZER;
static char queue[QUEUE][LINE];
static unsigned queued;
static uint64_t routes[16], bytes_logged, dropped;

static void emit(const char *line)
{
    pthread_mutex_lock(&stderr_mu);
    ssize_t wrote = write(ends[1], line, LINE);
    bytes_logged += wrote > 0 ? (uint64_t)wrote : 0;
    pthread_mutex_unlock(&stderr_mu);
}

static void enqueue(const char *line)
{
    pthread_mutex_lock(&queue_mu);
    if (queued < QUEUE)
        memcpy(queue[queued++], line, LINE);
    else
        dropped++;
    pthread_mutex_unlock(&queue_mu);
}

static void *write_queue(void *unused)
{
    static char taken[QUEUE][LINE];
    while (!server_stopping()) {
        pthread_mutex_lock(&queue_mu);
        unsigned count = queued;
        memcpy(taken, queue, count * sizeof taken[0]);
        queued = 0;
        pthread_mutex_unlock(&queue_mu);
        for (unsigned i = 0; i < count && !server_stopping(); i++)
            emit(taken[i]);
        sleep_us(500);
    }
    return unused;
}

static void *supervise(void *unused)
{
    char text[4 * LINE];
    while (!server_stopping()) {
        if (read(ends[0], text, sizeof text) <= 0)
            break;
        sleep_us(200);
    }
    close(ends[0]); /* the writers get EPIPE */
    return unused;
}

static unsigned handle(struct request *request)
{
    char line[LINE], body[2000] = {'b'};
    uint64_t route = checksum(body, sizeof body, request->random) % 16;
    snprintf(line, sizeof line, "GET /%llu %u", (unsigned long long)route,
             request->worker);
    pthread_mutex_lock(&routes_mu);
    routes[route]++;
    pthread_mutex_unlock(&routes_mu);
    if (server_fix("move-blocking-out"))
        enqueue(line);
    else
        emit(line);
    return 1;
}

static void setup(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends) != 0)
        _exit(2);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    server_background(supervise, NULL);
    if (server_fix("move-blocking-out"))
        server_background(write_queue, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
