// SPDX-License-Identifier: MIT
//
// Threads that share one connection to an SQLite database in memory, which serialises
// them by its mutex: sqlite THREADS SECONDS. Three of four statements read a row, the
// fourth changes one.

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS 1000

static sqlite3 *database;
static atomic_bool ended;

static void check(int code, int expected) {
    if (code != expected) {
        fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(database));
        exit(1);
    }
}

static sqlite3_stmt *prepared(const char *text) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK);
    return statement;
}

static void execute(sqlite3_stmt *statement, unsigned row, int expected) {
    check(sqlite3_bind_int(statement, 1, (int)row), SQLITE_OK);
    check(sqlite3_step(statement), expected);
    sqlite3_reset(statement);
}

static void *client(void *argument) {
    unsigned long *done = argument;
    unsigned random = (unsigned)(unsigned long)argument;
    sqlite3_stmt *read = prepared("select balance from account where id = ?");
    sqlite3_stmt *write = prepared("update account set balance = balance + 1 where id = ?");
    while (!atomic_load_explicit(&ended, memory_order_relaxed)) {
        random = random * 1664525 + 1013904223;
        unsigned row = (random >> 8) % ROWS;
        if (++*done % 4)
            execute(read, row, SQLITE_ROW);
        else
            execute(write, row, SQLITE_DONE);
    }
    sqlite3_finalize(read);
    sqlite3_finalize(write);
    return NULL;
}

int main(int count, char **words) {
    int threads = count > 1 ? atoi(words[1]) : 2;
    double seconds = count > 2 ? atof(words[2]) : 0.3;
    check(sqlite3_open_v2(":memory:", &database,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL),
          SQLITE_OK);
    sqlite3_stmt *table = prepared("create table account (id integer primary key, balance int)");
    check(sqlite3_step(table), SQLITE_DONE);
    sqlite3_finalize(table);
    sqlite3_stmt *insert = prepared("insert into account values (?, 0)");
    for (unsigned row = 0; row < ROWS; row++)
        execute(insert, row, SQLITE_DONE);
    sqlite3_finalize(insert);

    pthread_t *clients = calloc((size_t)threads, sizeof *clients);
    struct {
        _Alignas(128) unsigned long done;
    } *counts = aligned_alloc(128, (size_t)threads * sizeof *counts);
    for (int i = 0; i < threads; i++) {
        counts[i].done = 0;
        pthread_create(&clients[i], NULL, client, &counts[i].done);
    }
    struct timespec pause = {.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    atomic_store(&ended, 1);
    unsigned long total = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(clients[i], NULL);
        total += counts[i].done;
    }
    printf("statements/s: %.0f\n", (double)total / seconds);
    return 0;
}
