/* SPDX-License-Identifier: MIT */
/*
 * SQLite as a lock workload: N threads share one serialised connection, so every
 * statement acquires the same recursive mutex, that of the connection.
 *
 *     sqlite_driver DATABASE THREADS MILLISECONDS
 *
 * Each thread mixes small range sums (85 %), updates (10 %) and inserts (5 %), and
 * checks each sum; at the end the main thread checks that no update and no insert was
 * lost or doubled, and asks SQLite for its own integrity check. Prints one JSON line;
 * the exit status is 0 if all checks passed, 1 if one failed, 2 for wrong usage.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INITIAL_ROWS = 5000, RANGE_ROWS = 10, WEIGHT = 7, MOST_THREADS = 1024 };

struct worker {
    pthread_t thread;
    uint64_t random;
    long sums;
    long updates;
    long inserts;
};

static sqlite3 *connection;
static atomic_bool stop;

static void fail(const char *what)
{
    fprintf(stderr, "sqlite_driver: %s: %s\n", what,
            connection ? sqlite3_errmsg(connection) : "no connection");
    exit(1);
}

static void execute(const char *sql)
{
    if (sqlite3_exec(connection, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(sql);
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(sql);
    return statement;
}

/* Runs a statement to its end. Returns the first column of its row, or 0 if it has no
 * row. */
static sqlite3_int64 finish(sqlite3_stmt *statement)
{
    sqlite3_int64 value = 0;
    int status = sqlite3_step(statement);

    if (status == SQLITE_ROW) {
        value = sqlite3_column_int64(statement, 0);
        status = sqlite3_step(statement);
    }
    if (status != SQLITE_DONE)
        fail(sqlite3_sql(statement));
    sqlite3_reset(statement);
    return value;
}

static sqlite3_int64 query(const char *sql)
{
    sqlite3_stmt *statement = prepare(sql);
    sqlite3_int64 value = finish(statement);

    sqlite3_finalize(statement);
    return value;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Each statement belongs to one thread; only the connection is shared. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    sqlite3_stmt *sum =
        prepare("SELECT sum(weight) FROM item WHERE id BETWEEN ? AND ?");
    sqlite3_stmt *update = prepare("UPDATE item SET hits = hits + 1 WHERE id = ?");
    sqlite3_stmt *insert = prepare("INSERT INTO item (weight, hits) VALUES (0, 0)");

    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        uint64_t random = next_random(&worker->random);
        int choice = (int)(random % 100);
        int first = 1 + (int)((random >> 32) % (INITIAL_ROWS - RANGE_ROWS));

        if (choice < 85) {
            sqlite3_int64 expected = 0;

            for (int i = first; i < first + RANGE_ROWS; i++)
                expected += (sqlite3_int64)i * WEIGHT;
            sqlite3_bind_int(sum, 1, first);
            sqlite3_bind_int(sum, 2, first + RANGE_ROWS - 1);
            if (finish(sum) != expected)
                fail("a range sum is wrong");
            worker->sums++;
        } else if (choice < 95) {
            sqlite3_bind_int(update, 1, first);
            finish(update);
            worker->updates++;
        } else {
            finish(insert);
            worker->inserts++;
        }
    }
    sqlite3_finalize(sum);
    sqlite3_finalize(update);
    sqlite3_finalize(insert);
    return NULL;
}

static void create_table(const char *path)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    sqlite3_stmt *insert;

    if (sqlite3_open_v2(path, &connection, flags, NULL) != SQLITE_OK)
        fail(path);
    execute("PRAGMA journal_mode=WAL");
    execute("PRAGMA synchronous=OFF");
    execute("CREATE TABLE item (id INTEGER PRIMARY KEY, weight INTEGER, hits INTEGER)");
    execute("BEGIN");
    insert = prepare("INSERT INTO item VALUES (?, ?, 0)");
    for (int i = 1; i <= INITIAL_ROWS; i++) {
        sqlite3_bind_int(insert, 1, i);
        sqlite3_bind_int(insert, 2, i * WEIGHT);
        finish(insert);
    }
    sqlite3_finalize(insert);
    execute("COMMIT");
}

static void check_integrity(void)
{
    sqlite3_stmt *statement = prepare("PRAGMA integrity_check");
    const unsigned char *verdict;

    if (sqlite3_step(statement) != SQLITE_ROW)
        fail("integrity_check");
    verdict = sqlite3_column_text(statement, 0);
    if (!verdict || strcmp((const char *)verdict, "ok") != 0)
        fail("integrity_check did not return ok");
    sqlite3_finalize(statement);
}

static double monotonic_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    struct worker *workers;
    int threads = argc == 4 ? atoi(argv[2]) : 0;
    int milliseconds = argc == 4 ? atoi(argv[3]) : 0;
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    long sums = 0, updates = 0, inserts = 0, fewest = -1, most = 0;
    double start, seconds;

    if (threads < 1 || threads > MOST_THREADS || milliseconds < 1) {
        fprintf(stderr, "usage: sqlite_driver DATABASE THREADS MILLISECONDS\n");
        return 2;
    }
    workers = calloc((size_t)threads, sizeof *workers);
    if (!workers)
        fail("out of memory");
    create_table(argv[1]);

    start = monotonic_seconds();
    for (int i = 0; i < threads; i++) {
        workers[i].random = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 1;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            fail("pthread_create");
    }
    nanosleep(&pause, NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < threads; i++) {
        long count;

        pthread_join(workers[i].thread, NULL);
        count = workers[i].sums + workers[i].updates + workers[i].inserts;
        sums += workers[i].sums;
        updates += workers[i].updates;
        inserts += workers[i].inserts;
        most = count > most ? count : most;
        fewest = fewest < 0 || count < fewest ? count : fewest;
    }
    seconds = monotonic_seconds() - start;

    if (query("SELECT count(*) FROM item") != INITIAL_ROWS + inserts)
        fail("rows were lost or doubled");
    if (query("SELECT sum(hits) FROM item") != updates)
        fail("updates were lost or doubled");
    check_integrity();
    if (sqlite3_close(connection) != SQLITE_OK)
        fail("sqlite3_close");
    free(workers);
    printf("{\"threads\": %d, \"operations\": %ld, \"operations_per_second\": %.1f, "
           "\"rows\": %ld, \"updates\": %ld, \"fewest_per_thread\": %ld, "
           "\"most_per_thread\": %ld}\n",
           threads, sums + updates + inserts,
           (double)(sums + updates + inserts) / seconds, INITIAL_ROWS + inserts,
           updates, fewest, most);
    return 0;
}
