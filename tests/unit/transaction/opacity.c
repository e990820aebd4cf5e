/* SPDX-License-Identifier: MIT */
/*
 * Records histories of transactions, aborted ones included, and of direct accesses, and
 * has them judged (history.h), on the perturbed platform.
 *
 *   unit-transaction-opacity [WAY]     options.h
 *   unit-transaction-opacity wrong N   the N-th seeded fault; exits with status 1
 */
#include "../check.h"
#include "history.h"
#include "options.h"

#include "platform/platform.h"
#include "platform/xorshift.h"

enum {
    THREADS = 4,
    ROUNDS = 600,
    TRANSACTIONS = 4, /* that a thread attempts in a round */
    STEPS = 4,        /* loads and stores of one */
    ATTEMPTS = 2,     /* then it runs alone */
};

enum fault { NO_FAULT, STALE_LOAD, DIRECT_LOADS, LOST_COMMIT };

struct worker {
    pthread_t thread;
    uint32_t random;
    uint64_t stale; /* what its last load has found */
    struct hasp_tx *tx;
};

static struct hasp_tm *tm;
static struct hasp_word words[HISTORY_WORDS];
static enum fault fault;
static unsigned rounds = ROUNDS;
static struct atomic_u64 now_at, next_value;
static struct atomic_u32 used;
static struct history history;
static struct values before; /* the round */
static pthread_barrier_t meeting;

static uint32_t any(struct worker *worker, uint32_t below)
{
    worker->random = xorshift32(worker->random);
    return (worker->random >> 8) % below;
}

static uint64_t moment(void)
{
    return fetch_add_acq_rel(&now_at, 1);
}

static bool load(struct worker *worker, struct record *record, unsigned word)
{
    uint64_t value = 0;
    int result = hasp_tx_load(worker->tx, &words[word], &value);
    if (result == HASP_TX_AGAIN)
        return false;
    CHECK_EQUAL(result, HASP_TX_OK);
    if (fault == DIRECT_LOADS)
        value = hasp_tm_load(tm, &words[word]);
    if (fault == STALE_LOAD && !any(worker, 8))
        value = worker->stale;
    worker->stale = value;
    if (record->stores[word]) {
        CHECK(fault || value == record->stored[word]);
    } else {
        CHECK(fault || !record->loads[word] || record->loaded[word] == value);
        record->loads[word] = true;
        record->loaded[word] = value;
    }
    return true;
}

static void step_all(struct worker *worker, struct record *record)
{
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned word = any(worker, HISTORY_WORDS);
        if (any(worker, 2)) {
            if (!load(worker, record, word))
                return;
        } else {
            uint64_t value = fetch_add_relaxed(&next_value, 1) + 1;
            if (hasp_tx_store(worker->tx, &words[word], value) == HASP_TX_OK) {
                record->stores[word] = true;
                record->stored[word] = value;
            }
        }
    }
}

/* Returns the record of what comes next, or NULL if there are enough. */
static struct record *begin_record(void)
{
    uint32_t at = fetch_add_relaxed(&used, 1);
    if (at >= HISTORY_MOST)
        return NULL;
    struct record *record = &history.records[at];
    memset(record, 0, sizeof *record);
    record->began = moment();
    return record;
}

static void transact(struct worker *worker)
{
    struct record *record;
    int result = HASP_TX_AGAIN;
    while (result == HASP_TX_AGAIN && (record = begin_record())) {
        CHECK_EQUAL(hasp_tx_begin(worker->tx), HASP_TX_OK);
        step_all(worker, record);
        if (fault == LOST_COMMIT && !any(worker, 4)) {
            hasp_tx_abort(worker->tx);
            result = HASP_TX_OK;
        } else {
            result = hasp_tx_commit(worker->tx);
        }
        record->committed = result == HASP_TX_OK;
        record->ended = moment();
    }
}

static void access_directly(struct worker *worker)
{
    unsigned word = any(worker, HISTORY_WORDS);
    struct record *record = begin_record();
    if (!record)
        return;
    if (any(worker, 2)) {
        record->loads[word] = true;
        record->loaded[word] = hasp_tm_load(tm, &words[word]);
    } else {
        record->stores[word] = true;
        record->stored[word] = fetch_add_relaxed(&next_value, 1) + 1;
        hasp_tm_store(tm, &words[word], record->stored[word]);
    }
    record->committed = true;
    record->ended = moment();
}

static void judge(void)
{
    uint32_t count = load_relaxed(&used);
    history.count = count < HISTORY_MOST ? count : HISTORY_MOST;
    if (!history_is_opaque(&history, &before)) {
        fprintf(stderr, "the history is not opaque\n");
        exit(1);
    }
    for (int i = 0; i < HISTORY_WORDS; i++)
        before.words[i] = hasp_word_get(&words[i]);
    store_relaxed(&used, 0);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    CHECK_EQUAL(hasp_tx_open(&worker->tx, tm, NULL), HASP_TX_OK);
    for (unsigned round = 0; round < rounds; round++) {
        for (int i = 0; i < TRANSACTIONS; i++)
            if (any(worker, 8))
                transact(worker);
            else
                access_directly(worker);
        if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
            judge();
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    static struct worker workers[THREADS];
    struct hasp_tm_options options = {.stripe_bytes = 8, .attempts = ATTEMPTS};
    uint64_t alone = 0, aborted = 0;
    if (count > 2 && strcmp(arguments[1], "wrong") == 0)
        fault = (enum fault)atoi(arguments[2]);
    else if (count > 1)
        set_way(&options, arguments[1]);
    if (options.servers)
        rounds = ROUNDS / 4; /* on a busy machine, a message costs a time slice */
    CHECK_EQUAL(hasp_tm_create(&tm, &options), HASP_TX_OK);
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].random = 2463534242u + i * 7919;
        CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        struct hasp_tx_counts counts;
        pthread_join(workers[i].thread, NULL);
        hasp_tx_count(workers[i].tx, &counts);
        alone += counts.committed_alone;
        aborted += counts.begun - counts.committed;
        hasp_tx_close(workers[i].tx);
    }
    hasp_tm_destroy(tm);
    printf("%llu aborted, %llu alone\n", (unsigned long long)aborted,
           (unsigned long long)alone);
    return 0;
}
