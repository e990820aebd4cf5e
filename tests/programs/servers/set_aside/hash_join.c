/* SPDX-License-Identifier: MIT */
/* Healthy: threads join rows against a table that is larger than the caches. They look
 * up rows without a lock, and lock one of sixteen partitions of the result once for
 * every six hundred rows. What takes time is the memory. */
#include <stdlib.h>

#include "../server.h"

enum { TABLE = 1 << 22, PARTITIONS = 16, ROWS = 600 };

struct partition {
    pthread_mutex_t partition_mu;
    uint64_t rows, sum;
} __attribute__((aligned(128)));

static uint32_t *table;
static struct partition partitions[PARTITIONS];
static uint64_t unguarded[256][8];

static void emit(struct partition *partition, uint64_t sum)
{
    pthread_mutex_lock(&partition->partition_mu);
    partition->rows += ROWS;
    partition->sum += sum;
    pthread_mutex_unlock(&partition->partition_mu);
}

static unsigned handle(struct request *request)
{
    uint64_t sum = 0;
    for (unsigned row = 0; row < ROWS; row++) {
        uint64_t key = random_below(request, TABLE);
        for (unsigned step = 0; step < 4; step++)
            key = (table[key] + request->number) % TABLE;
        sum += key;
    }
    if (server_fix("drop-lock"))
        unguarded[request->worker][0] += sum; /* shows what the locks cost: nothing */
    else
        emit(&partitions[sum % PARTITIONS], sum);
    return ROWS;
}

static void setup(void)
{
    struct request source = {0, 0, 7};
    table = malloc(TABLE * sizeof *table);
    for (unsigned i = 0; i < TABLE; i++)
        table[i] = (uint32_t)random_below(&source, TABLE);
    for (unsigned i = 0; i < PARTITIONS; i++)
        pthread_mutex_init(&partitions[i].partition_mu, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
