/* SPDX-License-Identifier: MIT */
/* A capture keeps the headers of the last burst of packets per interface. The lists of a burst are
 * allocated, and those of an old one freed, node by node under the capture's lock. */
#include <stdlib.h>

#include "../server.h"

enum { INTERFACES = 256, PACKETS = 60, HEADER = 54 };

struct header {
    struct header *next;
    unsigned char bytes[HEADER];
};

static struct capture {
    pthread_mutex_t capture_mu;
    struct header *bursts[INTERFACES];
    uint64_t recorded;
} capture = {.capture_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t filter_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t filtered;

static struct header *allocate_burst(void)
{
    struct header *first = NULL;
    for (unsigned i = 0; i < PACKETS; i++) {
        struct header *header = malloc(sizeof *header + i * 8);
        header->next = first;
        header->bytes[0] = (unsigned char)i;
        first = header;
    }
    return first;
}

static void free_burst(struct header *first)
{
    while (first) {
        struct header *next = first->next;
        free(first);
        first = next;
    }
}

static struct header *exchange(unsigned interface, struct header *burst)
{
    struct header *old = capture.bursts[interface];
    capture.bursts[interface] = burst;
    capture.recorded++;
    return old;
}

static void record(unsigned interface)
{
    if (server_fix("allocate-outside")) {
        struct header *burst = allocate_burst();
        pthread_mutex_lock(&capture.capture_mu);
        struct header *old = exchange(interface, burst);
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
