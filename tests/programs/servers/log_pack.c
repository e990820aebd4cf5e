/* SPDX-License-Identifier: MIT */
/* Log records go into a block. The thread that fills the block also packs it, and
 * the others cannot log until it is done. The remedy gives the thread the full block
 * and continues with an empty one. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { BLOCK = 6144, RECORD = 96 };

static pthread_mutex_t pack_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *block;
static size_t used;
static pthread_mutex_t archive_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t packed_blocks, packed_bytes;

/* Replaces runs by their length, and looks for earlier copies of each window. */
static size_t pack(const unsigned char *data, size_t size)
{
    size_t out = 0;
    for (size_t at = 0; at + 16 <= size; at += 16) {
        size_t from = at > 1024 ? at - 1024 : 0, best = 0;
        for (; from + 16 <= at; from += 2) {
            size_t length = 0;
            while (length < 16 && data[from + length] == data[at + length])
                length++;
            best = length > best ? length : best;
        }
        out += 18 - best;
    }
    return out;
}

static void archive(const unsigned char *data, size_t size)
{
    size_t out = pack(data, size);
    pthread_mutex_lock(&archive_mu);
    packed_blocks++;
    packed_bytes += out;
    pthread_mutex_unlock(&archive_mu);
}

static void append(const unsigned char *record)
{
    unsigned char *full = NULL;
    pthread_mutex_lock(&pack_mu);
    memcpy(block + used, record, RECORD);
    used += RECORD;
    if (used == BLOCK) {
        if (server_fix("shorten-section")) {
            full = block;
            block = malloc(BLOCK);
        } else {
            archive(block, BLOCK);
        }
        used = 0;
    }
    pthread_mutex_unlock(&pack_mu);
    if (full) {
        archive(full, BLOCK);
        free(full);
    }
}

static unsigned handle(struct request *request)
{
    unsigned char record[RECORD] = "GET /index.html";
    unsigned char page[900] = {'p'};
    uint64_t sum = checksum(page, sizeof page, random_below(request, 50));
    memcpy(record + 40, &sum, sizeof sum);
    append(record);
    return 1;
}

static void setup(void)
{
    block = malloc(BLOCK);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
