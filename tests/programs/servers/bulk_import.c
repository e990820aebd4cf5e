/* SPDX-License-Identifier: MIT */
/* An import of many rows unlocks the table after each row "to let others in", and
 * locks it again at once. A client that waits has not even woken up by then. */
#include <string.h>

#include "server.h"

enum { ROWS = 5000, ROW = 160 };

static pthread_mutex_t table_mu = PTHREAD_MUTEX_INITIALIZER;
static struct fair_lock fair_table = FAIR_LOCK_INITIALIZER;
static pthread_mutex_t clients_mu = PTHREAD_MUTEX_INITIALIZER;
static char rows[ROWS][ROW];
static uint64_t rows_seen, clients[8];

static void lock_table(void)
{
    if (server_fix("fair-lock"))
        fair_lock_acquire(&fair_table);
    else
        pthread_mutex_lock(&table_mu);
}

static void unlock_table(void)
{
    if (server_fix("fair-lock"))
        fair_lock_release(&fair_table);
    else
        pthread_mutex_unlock(&table_mu);
}

/* Checks the row's foreign keys in a part of the table. */
static void insert_row(uint64_t number)
{
    uint64_t key = checksum(rows[number % ROWS], ROW, number);
    for (unsigned i = 0; i < 200; i++)
        key += checksum(rows[(key + i) % ROWS], ROW, key);
    memcpy(rows[number % ROWS], &key, sizeof key);
    rows_seen++;
}

static void *import_rows(void *unused)
{
    lock_table();
    for (uint64_t number = 0; !server_stopping(); number++) {
        insert_row(number);
        unlock_table(); /* lets others in */
        lock_table();
    }
    unlock_table();
    return unused;
}

static unsigned handle(struct request *request)
{
    char row[ROW];
    sleep_us(250); /* the next query arrives */
    uint64_t number = random_below(request, ROWS);
    lock_table();
    memcpy(row, rows[number], ROW);
    unlock_table();
    uint64_t sum = checksum(row, ROW, number);
    pthread_mutex_lock(&clients_mu);
    clients[sum % 8]++;
    pthread_mutex_unlock(&clients_mu);
    return 1;
}

static void setup(void)
{
    server_background(import_rows, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
