/* SPDX-License-Identifier: MIT */
/* Long polls: each subscriber waits for news in its own room, but all rooms share a
 * condition variable, and each message wakes all subscribers. A room has place for
 * one message. */
#include "server.h"

enum { ROOMS = 24 };

struct room {
    pthread_cond_t own_news, delivered;
    uint64_t message, messages;
};

static struct chat {
    pthread_mutex_t rooms_mu;
    pthread_cond_t news;
    struct room rooms[ROOMS];
} chat = {.rooms_mu = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t spam_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t spam;

static void *subscribe(void *argument)
{
    struct room *room = argument;
    pthread_mutex_lock(&chat.rooms_mu);
    while (!server_stopping()) {
        while (room->message == 0 && !server_stopping())
            pthread_cond_wait(server_fix("signal-one") ? &room->own_news : &chat.news,
                              &chat.rooms_mu);
        room->message = 0;
        room->messages++;
        pthread_cond_signal(&room->delivered);
    }
    pthread_mutex_unlock(&chat.rooms_mu);
    return NULL;
}

static void post(struct room *room, uint64_t message)
{
    pthread_mutex_lock(&chat.rooms_mu);
    while (room->message != 0 && !server_stopping())
        pthread_cond_wait(&room->delivered, &chat.rooms_mu);
    room->message = message;
    if (server_fix("signal-one"))
        pthread_cond_signal(&room->own_news);
    else
        pthread_cond_broadcast(&chat.news);
    pthread_mutex_unlock(&chat.rooms_mu);
}

static unsigned handle(struct request *request)
{
    char text[6000] = {'t'};
    uint64_t words = checksum(text, sizeof text, request->number);
    if (words % 8 == 0) {
        pthread_mutex_lock(&spam_mu);
        spam++;
        pthread_mutex_unlock(&spam_mu);
    }
    post(&chat.rooms[random_below(request, ROOMS)], words | 1);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < ROOMS; i++) {
        pthread_cond_init(&chat.rooms[i].own_news, NULL);
        pthread_cond_init(&chat.rooms[i].delivered, NULL);
        server_background(subscribe, &chat.rooms[i]);
    }
}

static void stop(void)
{
    pthread_mutex_lock(&chat.rooms_mu);
    pthread_cond_broadcast(&chat.news);
    for (unsigned i = 0; i < ROOMS; i++) {
        pthread_cond_broadcast(&chat.rooms[i].own_news);
        pthread_cond_broadcast(&chat.rooms[i].delivered);
    }
    pthread_mutex_unlock(&chat.rooms_mu);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
