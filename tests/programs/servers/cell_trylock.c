/* SPDX-License-Identifier: MIT */
/* Cells of a spreadsheet engine are computed under one mutex. A thread that finds it
 * locked tries again at once, as somebody did who had read that blocking is slow.
 * The attempts take CPU time from the thread that has the mutex. */
#include "server.h"

enum { CELLS = 9000 };

static pthread_mutex_t cells_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned char cells[CELLS];
static pthread_mutex_t undo_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t undo_steps;

static void lock_cells(void)
{
    if (server_fix("block-instead")) {
        pthread_mutex_lock(&cells_mu);
        return;
    }
    while (pthread_mutex_trylock(&cells_mu) != 0)
        ;
}

static uint64_t recompute(uint64_t cell)
{
    lock_cells();
    uint64_t value = cell;
    for (unsigned pass = 0; pass < 12; pass++)
        value = checksum(cells, CELLS, value);
    cells[value % CELLS] = (unsigned char)value;
    pthread_mutex_unlock(&cells_mu);
    return value;
}

static unsigned handle(struct request *request)
{
    char formula[12000] = {'='};
    uint64_t cell = checksum(formula, sizeof formula, request->number);
    request->random += recompute(cell);
    if (request->number % 4 == 0) {
        pthread_mutex_lock(&undo_mu);
        undo_steps++;
        pthread_mutex_unlock(&undo_mu);
    }
    return 1;
}

/* Draws charts, and needs the CPU time that the attempts take. */
static void *draw_charts(void *unused)
{
    static unsigned char chart[15000];
    uint64_t shade = 1;
    while (!server_stopping()) {
        shade = checksum(chart, sizeof chart, shade);
        server_count(1);
    }
    return unused;
}

static void setup(void)
{
    server_background(draw_charts, NULL);
    server_background(draw_charts, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
