/* SPDX-License-Identifier: MIT */
/*
 * Threads that each commit one row at a time over one connection of SQLite, which keeps
 * its mutex while the file system writes the row to the disk.
 *
 *     sqlite_commits DATABASE THREADS SECONDS each|batch
 *
 * `batch`: a transaction takes a hundred rows. Prints `rows/s: N`.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 100, MOST_THREADS = 64 };

static sqlite3 *connection;
static atomic_bool stop;
static atomic_long rows;
static char statement[BATCH * 64 + 64];

static void run(const char *script)
{
    char *message = NULL;
    if (sqlite3_exec(connection, script, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "sqlite_commits: %s\n", message);
        exit(1);
    }
}

static void *commit_rows(void *batch)
{
    while (!stop) {
        run(statement);
        atomic_fetch_add(&rows, *(const int *)batch);
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[MOST_THREADS];
    int number = count == 5 ? atoi(words[2]) : 0;
    if (number < 1 || number > MOST_THREADS) {
        fprintf(stderr, "usage: sqlite_commits DATABASE THREADS SECONDS each|batch\n");
        return 2;
    }
    int batch = strcmp(words[4], "batch") == 0 ? BATCH : 1;
    strcpy(statement, "insert into rows values (1)");
    for (int i = 1; i < batch; i++)
        strcat(statement, ", (1)");
    if (sqlite3_open_v2(words[1], &connection,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                            SQLITE_OPEN_FULLMUTEX,
                        NULL) != SQLITE_OK)
        return 1;
    run("pragma synchronous = full; create table if not exists rows(value int);");
    for (int i = 0; i < number; i++)
        pthread_create(&threads[i], NULL, commit_rows, &batch);
    usleep((useconds_t)(atof(words[3]) * 1e6));
    stop = true;
    for (int i = 0; i < number; i++)
        pthread_join(threads[i], NULL);
    printf("rows/s: %.0f\n", (double)rows / atof(words[3]));
    return 0;
}
