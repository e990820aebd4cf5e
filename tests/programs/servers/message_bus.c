/* SPDX-License-Identifier: MIT */
/* Messages are copied into buffers that are allocated, touched and freed under the
 * bus's lock. The buffers are so large that each is a separate mapping, with its own
 * page faults.
 * */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { BUFFER = 400000, TOPICS = 16 };

struct bus {
    pthread_mutex_t mutex;
    char *last[TOPICS];
    uint64_t published;
};

static struct bus bus;
static pthread_mutex_t subscribers_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t deliveries;

static char *new_message(uint64_t text)
{
    char *message = malloc(BUFFER);
    memset(message, (int)text, BUFFER);
    return message;
}

static void publish(struct request *request, unsigned topic)
{
    bool outside = server_fix("allocate-outside");
    char *message = outside ? new_message(request->number) : NULL;
    pthread_mutex_lock(&bus.mutex);
    char *old = bus.last[topic];
    if (!outside) {
        free(old);
        message = new_message(request->number);
    }
    bus.last[topic] = message;
    bus.published++;
    pthread_mutex_unlock(&bus.mutex);
    if (outside)
        free(old);
}

static unsigned handle(struct request *request)
{
    unsigned topic = (unsigned)random_below(request, TOPICS);
    uint64_t text = checksum(&bus.published, 8, request->number);
    publish(request, topic);
    pthread_mutex_lock(&subscribers_mutex);
    deliveries += text % 3;
    pthread_mutex_unlock(&subscribers_mutex);
    return 1;
}

static void setup(void)
{
    pthread_mutex_init(&bus.mutex, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
