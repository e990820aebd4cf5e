/* SPDX-License-Identifier: MIT */
/* An entropy coder locks its bit writer for each symbol, because the library's
 * authors made every object safe for threads. But a writer belongs to one thread. */
#include <stdlib.h>

#include "server.h"

enum { SYMBOLS = 600, BYTES = 4096 };

struct bit_writer {
    pthread_mutex_t writer_mu;
    uint64_t bits;
    unsigned count, at;
    unsigned char bytes[BYTES];
} __attribute__((aligned(128)));

static struct bit_writer *writers;
static pthread_mutex_t ratio_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ratio;

static void put_bits(struct bit_writer *writer, uint64_t code, unsigned length)
{
    bool lock = !server_fix("drop-lock");
    if (lock)
        pthread_mutex_lock(&writer->writer_mu);
    writer->bits = writer->bits << length | code;
    writer->count += length;
    while (writer->count >= 8) {
        writer->count -= 8;
        writer->bytes[writer->at++ % BYTES] =
            (unsigned char)(writer->bits >> writer->count);
    }
    if (lock)
        pthread_mutex_unlock(&writer->writer_mu);
}

static void *report_ratio(void *unused)
{
    while (!server_stopping()) {
        sleep_us(10000);
        pthread_mutex_lock(&ratio_mu);
        ratio = ratio * 7 / 8;
        pthread_mutex_unlock(&ratio_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    struct bit_writer *writer = &writers[request->worker];
    unsigned before = writer->at;
    for (unsigned i = 0; i < SYMBOLS; i++) {
        unsigned length = 1 + (unsigned)__builtin_ctz(i | 256) % 8;
        put_bits(writer, i & ((1u << length) - 1), length);
    }
    pthread_mutex_lock(&ratio_mu);
    ratio += writer->at - before;
    pthread_mutex_unlock(&ratio_mu);
    return 1;
}

static void setup(void)
{
    writers = aligned_alloc(128, server_threads() * sizeof *writers);
    for (unsigned i = 0; i < server_threads(); i++) {
        writers[i].bits = writers[i].count = writers[i].at = 0;
        pthread_mutex_init(&writers[i].writer_mu, NULL);
    }
    server_background(report_ratio, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
