/* SPDX-License-Identifier: MIT */
/* Each thread writes hexadecimal digits to a stream of its own, which locks its
 * mutex for each digit, as stdio does. Nobody else ever uses that stream. */
#include <stdlib.h>

#include "server.h"

enum { LINE = 512 };

struct stream {
    pthread_mutex_t stream_mu;
    size_t used;
    char text[4096];
} __attribute__((aligned(128)));

static struct stream *streams;
static bool locked = true;
static pthread_mutex_t dumps_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t dumps;

static void put_digit(struct stream *stream, unsigned digit)
{
    if (locked)
        pthread_mutex_lock(&stream->stream_mu);
    stream->text[stream->used++ % sizeof stream->text] = "0123456789abcdef"[digit & 15];
    if (locked)
        pthread_mutex_unlock(&stream->stream_mu);
}

static unsigned handle(struct request *request)
{
    struct stream *stream = &streams[request->worker];
    uint64_t word = request->random;
    for (unsigned i = 0; i < LINE; i++) {
        put_digit(stream, (unsigned)(word >> (i & 31)));
        word += i;
    }
    request->random += stream->used | 1;
    if (request->number % 128 == 0) {
        pthread_mutex_lock(&dumps_mu);
        dumps++;
        pthread_mutex_unlock(&dumps_mu);
    }
    return LINE;
}

static void setup(void)
{
    locked = !server_fix("drop-lock");
    streams = aligned_alloc(128, 256 * sizeof *streams);
    for (unsigned i = 0; i < 256; i++) {
        streams[i].used = 0;
        pthread_mutex_init(&streams[i].stream_mu, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
