/* SPDX-License-Identifier: MIT */
/*
 * Threads that sum a hundred rows each from one SQLite database, as a server's do.
 *
 *     sqlite_readers DATABASE THREADS SECONDS shared|own
 *
 * `shared`: all threads use one connection, which SQLite protects by a mutex. `own`: each
 * thread opens its own. Creates the database if it does not exist. Prints `queries/s: N`.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 20000, RANGE = 100, MOST_THREADS = 64 };

static const char *path;
static sqlite3 *shared_connection;
static atomic_bool stop;

static sqlite3 *open_database(void)
{
    sqlite3 *connection;

    if (sqlite3_open_v2(path, &connection,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                            SQLITE_OPEN_FULLMUTEX,
                        NULL) != SQLITE_OK) {
        fprintf(stderr, "sqlite_readers: cannot open %s\n", path);
        exit(1);
    }
    sqlite3_busy_timeout(connection, 10000);
    return connection;
}

static void fill(void)
{
    static const char script[] =
        "pragma journal_mode = wal;"
        "create table if not exists users(id integer primary key, name text, score int);"
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)"
        "insert or ignore into users select i, 'user ' || i, i * 7 % 1000 from n;";

    if (sqlite3_exec(shared_connection, script, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "sqlite_readers: %s\n", sqlite3_errmsg(shared_connection));
        exit(1);
    }
}

static void *read_users(void *reads)
{
    bool own = shared_connection == NULL;
    sqlite3 *connection = own ? open_database() : shared_connection;
    sqlite3_stmt *query;
    uint64_t random = (uintptr_t)reads;

    sqlite3_prepare_v2(connection, "select sum(score) from users where id between ?1 and ?1 + 100",
                       -1, &query, NULL);
    while (!stop) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        sqlite3_bind_int64(query, 1, (sqlite3_int64)(random >> 33) % (ROWS - RANGE) + 1);
        if (sqlite3_step(query) != SQLITE_ROW)
            abort();
        sqlite3_reset(query);
        ++*(long *)reads;
    }
    sqlite3_finalize(query);
    if (own)
        sqlite3_close(connection);
    return NULL;
}

int main(int count, char **words)
{
    static struct {
        pthread_t thread;
        long reads;
        char line[64];
    } readers[MOST_THREADS];
    long total = 0;

    if (count != 5 || atoi(words[2]) < 1 || atoi(words[2]) > MOST_THREADS) {
        fprintf(stderr, "usage: sqlite_readers DATABASE THREADS SECONDS shared|own\n");
        return 2;
    }
    path = words[1];
    shared_connection = open_database();
    fill();
    if (strcmp(words[4], "own") == 0) {
        sqlite3_close(shared_connection);
        shared_connection = NULL;
    }
    for (int i = 0; i < atoi(words[2]); i++)
        pthread_create(&readers[i].thread, NULL, read_users, &readers[i].reads);
    usleep((useconds_t)(atof(words[3]) * 1e6));
    stop = true;
    for (int i = 0; i < atoi(words[2]); i++) {
        pthread_join(readers[i].thread, NULL);
        total += readers[i].reads;
    }
    printf("queries/s: %.0f\n", (double)total / atof(words[3]));
    return 0;
}
