/* SPDX-License-Identifier: MIT */
/* A message broker. Each channel has a lock and a journal; the audit channel, which
 * gets a copy of every fourth message, also has a remote subscriber. It reads slowly,
 * and the broker sends to it while the channel is locked. */
#include <string.h>
#include <sys/socket.h>

#include "server.h"

enum { CHANNELS = 48, AUDIT = 7, TEXT = 64, BACKLOG = 1 << 15 };

struct channel {
    pthread_mutex_t lock;
    uint64_t digest, messages;
    int subscriber;
    char *backlog; /* for the remedy */
    size_t queued;
};

static struct channel channels[CHANNELS];
static pthread_mutex_t clients_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t clients[16];
static int remote;
static char backlog[BACKLOG], outgoing[BACKLOG];

static void *subscribe(void *unused)
{
    static char text[BACKLOG];
    while (recv(remote, text, sizeof text, 0) > 0 && !server_stopping())
        sleep_us(120);
    shutdown(remote, SHUT_RDWR);
    return unused;
}

static void forward(struct channel *channel, const char *text)
{
    if (!server_fix("move-blocking-out")) {
        (void)!send(channel->subscriber, text, TEXT, 0);
    } else if (channel->queued + TEXT <= BACKLOG) {
        memcpy(channel->backlog + channel->queued, text, TEXT);
        channel->queued += TEXT;
    }
}

static void publish(struct channel *channel, const char *text)
{
    pthread_mutex_lock(&channel->lock);
    channel->digest = checksum(text, TEXT, channel->digest);
    channel->messages++;
    if (channel->subscriber >= 0)
        forward(channel, text);
    pthread_mutex_unlock(&channel->lock);
}

static void *send_backlog(void *argument)
{
    struct channel *channel = argument;
    while (!server_stopping()) {
        pthread_mutex_lock(&channel->lock);
        size_t size = channel->queued;
        memcpy(outgoing, channel->backlog, size);
        channel->queued = 0;
        pthread_mutex_unlock(&channel->lock);
        if (size > 0)
            (void)!send(channel->subscriber, outgoing, size, 0);
        else
            sleep_us(200);
    }
    return NULL;
}

static unsigned handle(struct request *request)
{
    char text[TEXT];
    memset(text, (int)(request->number % 255 + 1), sizeof text);
    publish(&channels[random_below(request, CHANNELS)], text);
    if (request->number % 4 == 3)
        publish(&channels[AUDIT], text);
    pthread_mutex_lock(&clients_lock);
    clients[request->worker % 16]++;
    pthread_mutex_unlock(&clients_lock);
    return 1;
}

static void setup(void)
{
    int ends[2], size = 4096;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        return;
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    for (unsigned i = 0; i < CHANNELS; i++) {
        pthread_mutex_init(&channels[i].lock, NULL);
        channels[i].subscriber = -1;
    }
    channels[AUDIT].subscriber = ends[0];
    channels[AUDIT].backlog = backlog;
    remote = ends[1];
    server_background(subscribe, NULL);
    if (server_fix("move-blocking-out"))
        server_background(send_backlog, &channels[AUDIT]);
}

static void stop(void)
{
    shutdown(channels[AUDIT].subscriber, SHUT_RDWR);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
