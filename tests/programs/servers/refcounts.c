/* SPDX-License-Identifier: MIT */
/* Buffers are shared by reference. One global lock protects all reference counts. */
#include <stdatomic.h>

#include "server.h"

enum { BUFFERS = 1000, BURST = 64 };

struct buffer {
    unsigned references;
    atomic_uint atomic_references;
    uint64_t data[6];
};

static pthread_mutex_t refs_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t census_mu = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[BUFFERS];
static uint64_t census;

static void buffer_get(struct buffer *buffer)
{
    if (server_fix("use-atomic")) {
        atomic_fetch_add_explicit(&buffer->atomic_references, 1, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&refs_mu);
    buffer->references++;
    pthread_mutex_unlock(&refs_mu);
}

static void buffer_put(struct buffer *buffer)
{
    if (server_fix("use-atomic")) {
        atomic_fetch_sub_explicit(&buffer->atomic_references, 1, memory_order_acq_rel);
        return;
    }
    pthread_mutex_lock(&refs_mu);
    buffer->references--;
    pthread_mutex_unlock(&refs_mu);
}

static unsigned handle(struct request *request)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < BURST; i++) {
        struct buffer *buffer = &buffers[random_below(request, BUFFERS)];
        buffer_get(buffer);
        sum = checksum(buffer->data, sizeof buffer->data, sum);
        buffer_put(buffer);
    }
    pthread_mutex_lock(&census_mu);
    census += sum & 1;
    pthread_mutex_unlock(&census_mu);
    return BURST;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
