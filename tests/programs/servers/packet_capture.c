/* SPDX-License-Identifier: MIT */
/* A capture keeps the frames of each interface's last burst in a list. The list of a
 * burst is allocated, and that of an old one freed, frame by frame under the capture's
 * lock. */
#include <stdlib.h>

#include "server.h"

enum { INTERFACES = 256, PACKETS = 60, FRAME = 1100 };

struct frame {
    struct frame *next;
    unsigned char bytes[FRAME];
};

static struct capture {
    pthread_mutex_t capture_mu;
    struct frame *bursts[INTERFACES];
    uint64_t recorded;
} capture = {.capture_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t filter_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t filtered;

static struct frame *allocate_burst(void)
{
    struct frame *first = NULL;
    for (unsigned i = 0; i < PACKETS; i++) {
        struct frame *frame = malloc(sizeof *frame + i * 8);
        frame->next = first;
        frame->bytes[0] = (unsigned char)i;
        first = frame;
    }
    return first;
}

static void free_burst(struct frame *first)
{
    while (first) {
        struct frame *next = first->next;
        free(first);
        first = next;
    }
}

static struct frame *exchange(unsigned interface, struct frame *burst)
{
    struct frame *old = capture.bursts[interface];
    capture.bursts[interface] = burst;
    capture.recorded++;
    return old;
}

static void record(unsigned interface)
{
    if (server_fix("allocate-outside")) {
        struct frame *burst = allocate_burst();
        pthread_mutex_lock(&capture.capture_mu);
        struct frame *old = exchange(interface, burst);
        pthread_mutex_unlock(&capture.capture_mu);
        free_burst(old);
        return;
    }
    pthread_mutex_lock(&capture.capture_mu);
    free_burst(exchange(interface, allocate_burst()));
    pthread_mutex_unlock(&capture.capture_mu);
}

static unsigned handle(struct request *request)
{
    char packet[500] = {8};
    uint64_t sum = checksum(packet, sizeof packet, request->number);
    record(request->worker);
    if (sum % 16 == 0) {
        pthread_mutex_lock(&filter_mu);
        filtered++;
        pthread_mutex_unlock(&filter_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
