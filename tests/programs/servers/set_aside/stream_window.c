/* SPDX-License-Identifier: MIT */
/* Streams of one connection wait for room in their own windows, but all of them on
 * the condition variable of the connection. Each update concerns one stream, and
 * wakes all. The remedy has a condition variable for each stream. */
#include "../server.h"

enum { STREAMS = 36 };

struct stream {
    pthread_cond_t opened;
    unsigned room;
};

static struct {
    pthread_mutex_t connection_mu;
    pthread_cond_t window_opened;
    struct stream streams[STREAMS];
} connection = {
    .connection_mu = PTHREAD_MUTEX_INITIALIZER,
    .window_opened = PTHREAD_COND_INITIALIZER,
};

static void *send_stream(void *argument)
{
    struct stream *stream = argument;
    unsigned char frame[500] = {0};
    bool own = server_fix("signal-one");
    pthread_cond_t *opened = own ? &stream->opened : &connection.window_opened;
    pthread_mutex_lock(&connection.connection_mu);
    while (!server_stopping()) {
        if (stream->room == 0) {
            pthread_cond_wait(opened, &connection.connection_mu);
            continue;
        }
        stream->room--;
        pthread_mutex_unlock(&connection.connection_mu);
        frame[0] = (unsigned char)checksum(frame, sizeof frame, 1);
        server_count(1);
        pthread_mutex_lock(&connection.connection_mu);
    }
    pthread_mutex_unlock(&connection.connection_mu);
    return NULL;
}

static void update_window(struct stream *stream)
{
    pthread_mutex_lock(&connection.connection_mu);
    stream->room++;
    if (server_fix("signal-one"))
        pthread_cond_signal(&stream->opened);
    else
        pthread_cond_broadcast(&connection.window_opened);
    pthread_mutex_unlock(&connection.connection_mu);
}

static unsigned handle(struct request *request)
{
    unsigned char packet[700] = {0};
    sleep_us(20); /* the network */
    request->random += checksum(packet, sizeof packet, request->number) | 1;
    update_window(&connection.streams[random_below(request, STREAMS)]);
    return 0;
}

static void wake_all(void)
{
    pthread_mutex_lock(&connection.connection_mu);
    pthread_cond_broadcast(&connection.window_opened);
    for (unsigned i = 0; i < STREAMS; i++)
        pthread_cond_broadcast(&connection.streams[i].opened);
    pthread_mutex_unlock(&connection.connection_mu);
}

static void setup(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        pthread_cond_init(&connection.streams[i].opened, NULL);
        server_background(send_stream, &connection.streams[i]);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, wake_all, false};
    return server_main(count, words, &service);
}
