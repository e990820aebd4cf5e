/* SPDX-License-Identifier: MIT */
/* A row is guarded by latch `id % 16`. The rows of this table have ids that are
 * multiples of 16, so the other fifteen latches are never used. */
#include <stdlib.h>

#include "server.h"

enum { LATCHES = 16, ROWS = 500, COLUMNS = 600 };

static struct latch {
    pthread_mutex_t row_mu;
    uint64_t writes;
    char rest[128 - sizeof(pthread_mutex_t) - sizeof(uint64_t)];
} * latches;
static uint64_t rows[ROWS][COLUMNS];

static uint64_t write_row(uint64_t row)
{
    uint64_t id = row * 16;
    struct latch *latch = &latches[(server_fix("spread-keys") ? row : id) % LATCHES];
    pthread_mutex_lock(&latch->row_mu);
    latch->writes++;
    rows[row][id % COLUMNS]++;
    uint64_t sum = checksum(rows[row], sizeof rows[row], id);
    pthread_mutex_unlock(&latch->row_mu);
    return sum;
}

static unsigned handle(struct request *request)
{
    write_row(random_below(request, ROWS));
    return 1;
}

static void setup(void)
{
    latches = calloc(LATCHES, sizeof *latches);
    for (unsigned i = 0; i < LATCHES; i++)
        pthread_mutex_init(&latches[i].row_mu, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
