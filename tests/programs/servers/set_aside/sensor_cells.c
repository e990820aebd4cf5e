/* SPDX-License-Identifier: MIT */
/* A grid of soil sensors has a mutex for each of its 350,000 cells. A survey of a few
 * fields locks some hundred of them; the rest only takes memory, more than the
 * measured values. The remedy has a mutex for each row of the grid. */
#include <stdlib.h>

#include "../server.h"

enum { ROWS = 500, COLUMNS = 700, SURVEYED = 240 };

struct cell {
    pthread_mutex_t cell_mu;
    float moisture, salt;
};

struct value {
    float moisture, salt;
};

static struct cell *cells;
static struct value *values;
static pthread_mutex_t row_mu[ROWS];
static pthread_mutex_t survey_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t surveyed;

static void measure(unsigned row, unsigned column, float moisture)
{
    unsigned at = row * COLUMNS + column;
    bool few = server_fix("fewer-locks");
    pthread_mutex_t *mutex = few ? &row_mu[row] : &cells[at].cell_mu;
    pthread_mutex_lock(mutex);
    if (few)
        values[at].moisture = moisture;
    else
        cells[at].moisture = moisture;
    pthread_mutex_unlock(mutex);
}

static unsigned handle(struct request *request)
{
    unsigned char telegram[6000] = {0};
    uint64_t value = checksum(telegram, sizeof telegram, request->number);
    uint64_t at = random_below(request, SURVEYED);
    measure((unsigned)(at / 20), (unsigned)(at % 20), (float)(value % 100));
    sleep_us(100);
    if (request->number % 16 == 0) {
        pthread_mutex_lock(&survey_mu);
        surveyed++;
        pthread_mutex_unlock(&survey_mu);
    }
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < ROWS; i++)
        pthread_mutex_init(&row_mu[i], NULL);
    if (server_fix("fewer-locks")) {
        values = calloc(ROWS * COLUMNS, sizeof *values);
        return;
    }
    cells = calloc(ROWS * COLUMNS, sizeof *cells);
    for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
        pthread_mutex_init(&cells[i].cell_mu, NULL);
        measure(i / COLUMNS, i % COLUMNS, 0);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
