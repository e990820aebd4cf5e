/* SPDX-License-Identifier: MIT */
/* Threads move money between accounts while one adds them all up; a list of what was
 * moved grows meanwhile. Usage: transaction [LOCK] */
#include <hasp/transaction.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 2, ROUNDS = 2000, ACCOUNTS = 10, EACH = 100, NOT_ENOUGH = 100 };

struct entry {
    struct hasp_word next, sum;
};

struct order {
    struct hasp_word *from, *to;
    uint64_t sum;
};

static struct hasp_tm *tm;
static struct hasp_word accounts[ACCOUNTS], journal; /* journal: the last entry */
static int wrong_totals;

static int transfer(struct hasp_tx *tx, void *argument)
{
    struct order *order = argument;
    uint64_t from, to, last;
    void *block;
    HASP_TX_TRY(hasp_tx_load(tx, order->from, &from));
    HASP_TX_TRY(hasp_tx_load(tx, order->to, &to));
    if (from < order->sum)
        return NOT_ENOUGH;
    HASP_TX_TRY(hasp_tx_store(tx, order->from, from - order->sum));
    HASP_TX_TRY(hasp_tx_store(tx, order->to, to + order->sum));

    HASP_TX_TRY(hasp_tx_allocate(tx, sizeof(struct entry), &block));
    HASP_TX_TRY(hasp_tx_load(tx, &journal, &last));
    struct entry *entry = block;
    hasp_word_set(&entry->sum, order->sum); /* nobody else can reach it yet */
    hasp_word_set(&entry->next, last);
    return hasp_tx_store(tx, &journal, (uint64_t)(uintptr_t)entry);
}

static int add_up(struct hasp_tx *tx, void *argument)
{
    uint64_t *total = argument, one;
    *total = 0; /* the body may run several times */
    for (int i = 0; i < ACCOUNTS; i++) {
        HASP_TX_TRY(hasp_tx_load(tx, &accounts[i], &one));
        *total += one;
    }
    return HASP_TX_OK;
}

static void *move_money(void *argument)
{
    struct hasp_tx *tx;
    uint32_t random = (uint32_t)(uintptr_t)argument;
    uintptr_t moved = 0;
    if (hasp_tx_open(&tx, tm, NULL) != HASP_TX_OK)
        return NULL;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1664525 + 1013904223;
        unsigned from = (random >> 10) % ACCOUNTS;
        unsigned to = (from + 1 + (random >> 20) % (ACCOUNTS - 1)) % ACCOUNTS;
        struct order order = {&accounts[from], &accounts[to], 1 + (random >> 28)};
        int result = hasp_tx_run(tx, transfer, &order);
        if (result == HASP_TX_OK)
            moved += order.sum;
        else if (result != NOT_ENOUGH)
            fprintf(stderr, "%s\n", hasp_tx_explain(result));
    }
    hasp_tx_close(tx);
    return (void *)moved;
}

static void *watch(void *unused)
{
    struct hasp_tx *tx;
    uint64_t total;
    if (hasp_tx_open(&tx, tm, NULL) != HASP_TX_OK)
        return NULL;
    for (int round = 0; round < ROUNDS; round++)
        if (hasp_tx_run(tx, add_up, &total) != HASP_TX_OK || total != ACCOUNTS * EACH)
            wrong_totals++;
    hasp_tx_close(tx);
    return unused;
}

int main(int count, char **arguments)
{
    struct hasp_tm_options options = {.lock_name = count > 1 ? arguments[1] : NULL};
    int result = hasp_tm_create(&tm, &options);
    if (result != HASP_TX_OK) {
        fprintf(stderr, "%s\n", hasp_tx_explain(result));
        return 2;
    }
    for (int i = 0; i < ACCOUNTS; i++)
        hasp_word_set(&accounts[i], EACH);

    pthread_t threads[THREADS], watcher;
    pthread_create(&watcher, NULL, watch, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, move_money, (void *)(uintptr_t)(i + 1));
    uint64_t moved = 0, noted = 0;
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        moved += (uintptr_t)sum;
    }
    pthread_join(watcher, NULL);

    struct entry *entry = (struct entry *)(uintptr_t)hasp_word_get(&journal);
    while (entry) {
        struct entry *next = (struct entry *)(uintptr_t)hasp_word_get(&entry->next);
        noted += hasp_word_get(&entry->sum);
        hasp_tm_free(tm, entry);
        entry = next;
    }
    hasp_tm_destroy(tm);
    printf("%d wrong totals; the journal is %s\n", wrong_totals,
           noted == moved ? "complete" : "wrong");
    return 0;
}
