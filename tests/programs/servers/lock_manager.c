/* SPDX-License-Identifier: MIT */
/* Row locks of a database: transactions that want a row wait on one condition variable
 * for all rows. Whoever releases a row wakes them all. */
#include "server.h"

enum { ROWS = 6, TRANSACTIONS = 30, HOLD_US = 150 };

static struct {
    pthread_mutex_t rows_mu;
    pthread_cond_t row_free; /* any row */
    pthread_cond_t one_row_free[ROWS];
    bool is_taken[ROWS];
    uint64_t version[ROWS];
} manager = {.rows_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t redo_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t redo;

static bool lock_row(unsigned row)
{
    pthread_cond_t *free_row = &manager.row_free;
    if (server_fix("signal-one"))
        free_row = &manager.one_row_free[row];
    pthread_mutex_lock(&manager.rows_mu);
    while (manager.is_taken[row] && !server_stopping())
        pthread_cond_wait(free_row, &manager.rows_mu);
    bool is_ours = !manager.is_taken[row];
    manager.is_taken[row] = true;
    pthread_mutex_unlock(&manager.rows_mu);
    return is_ours;
}

static void unlock_row(unsigned row)
{
    pthread_mutex_lock(&manager.rows_mu);
    manager.is_taken[row] = false;
    manager.version[row]++;
    if (server_fix("signal-one"))
        pthread_cond_signal(&manager.one_row_free[row]);
    else
        pthread_cond_broadcast(&manager.row_free);
    pthread_mutex_unlock(&manager.rows_mu);
}

static unsigned transact(unsigned row)
{
    if (!lock_row(row))
        return 0;
    sleep_us(HOLD_US); /* the disk */
    unlock_row(row);
    pthread_mutex_lock(&redo_mu);
    redo += row;
    pthread_mutex_unlock(&redo_mu);
    return 1;
}

static void *run_batch_job(void *unused)
{
    for (unsigned number = 0; !server_stopping(); number++)
        server_count(transact((number * 5 + number / ROWS) % ROWS));
    return unused;
}

static unsigned handle(struct request *request)
{
    return transact((unsigned)random_below(request, ROWS));
}

static void setup(void)
{
    pthread_cond_init(&manager.row_free, NULL);
    for (unsigned i = 0; i < ROWS; i++)
        pthread_cond_init(&manager.one_row_free[i], NULL);
    unsigned jobs = server_fix("fewer-threads") ? 0 : TRANSACTIONS;
    for (unsigned i = 0; i < jobs; i++)
        server_background(run_batch_job, NULL);
}

static void stop(void)
{
    pthread_mutex_lock(&manager.rows_mu);
    pthread_cond_broadcast(&manager.row_free);
    for (unsigned i = 0; i < ROWS; i++)
        pthread_cond_broadcast(&manager.one_row_free[i]);
    pthread_mutex_unlock(&manager.rows_mu);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
