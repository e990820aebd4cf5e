/* SPDX-License-Identifier: MIT */
/* A receiver's only demultiplexer reads its stream bit by bit, and locks the reader
 * for each bit, as the reader's library does for everybody. No other thread has ever
 * used that reader. The remedy locks nothing. The viewers wait for their pictures. */
#include "../server.h"

enum { STREAM = 4096 };

struct bit_reader {
    pthread_mutex_t reader_mu;
    unsigned char bytes[STREAM];
    unsigned at;
};

static struct bit_reader reader;
static pthread_mutex_t pictures_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t pictures;

static unsigned next_bit(struct bit_reader *from)
{
    bool locks = !server_fix("drop-lock");
    if (locks)
        pthread_mutex_lock(&from->reader_mu);
    unsigned at = from->at++ % (STREAM * 8);
    unsigned bit = from->bytes[at / 8] >> at % 8 & 1;
    if (locks)
        pthread_mutex_unlock(&from->reader_mu);
    return bit;
}

static void *demultiplex(void *unused)
{
    uint64_t packets = 0;
    while (!server_stopping()) {
        unsigned value = 0;
        for (unsigned i = 0; i < 188 * 8; i++)
            value = value << 1 | next_bit(&reader);
        server_count(1);
        if (++packets % 64 != 0)
            continue;
        pthread_mutex_lock(&pictures_mu);
        pictures += 1 + (value & 1);
        pthread_mutex_unlock(&pictures_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(16000);
    pthread_mutex_lock(&pictures_mu);
    request->random += pictures | 1;
    pthread_mutex_unlock(&pictures_mu);
    return 0;
}

static void setup(void)
{
    pthread_mutex_init(&reader.reader_mu, NULL);
    server_background(demultiplex, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
