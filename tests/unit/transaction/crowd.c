/* SPDX-License-Identifier: MIT */
/*
 * Many threads on few words and one list, on the perturbed platform: transfers between
 * accounts keep the sum, which others add up; a sorted list grows and shrinks, and its
 * nodes are whole whenever a transaction looks at them.
 *
 *   unit-transaction-crowd [WAY [SECONDS]]    options.h
 */
#include "../check.h"
#include "options.h"

#include "platform/platform.h"
#include "platform/xorshift.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, ACCOUNTS = 12, EACH = 100, KEYS = 24, FACTOR = 3, ABORTED = 77 };

struct node {
    struct hasp_word key, product, next; /* product: FACTOR times key */
};

struct worker {
    pthread_t thread;
    uint32_t random;
    struct hasp_tx *tx;
    int64_t inserted;
};

static struct hasp_tm *tm;
static struct hasp_word accounts[ACCOUNTS], first;
static struct atomic_u32 stop;
static struct atomic_u64 blocks; /* allocated */

static uint32_t any(struct worker *worker, uint32_t below)
{
    worker->random = xorshift32(worker->random);
    return (worker->random >> 8) % below;
}

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    fetch_add_relaxed(&blocks, 1);
    return calloc(1, bytes);
}

static void release(void *context, void *memory, size_t bytes)
{
    (void)context;
    memset(memory, 0xa5, bytes);
    fetch_add_relaxed(&blocks, (uint64_t)-1);
    free(memory);
}

static int transfer(struct hasp_tx *tx, void *argument)
{
    struct worker *worker = argument;
    unsigned from = any(worker, ACCOUNTS), to = any(worker, ACCOUNTS);
    uint64_t sum, other;
    HASP_TX_TRY(hasp_tx_load(tx, &accounts[from], &sum));
    HASP_TX_TRY(hasp_tx_store(tx, &accounts[from], sum - 1));
    HASP_TX_TRY(hasp_tx_load(tx, &accounts[to], &other));
    HASP_TX_TRY(hasp_tx_store(tx, &accounts[to], other + 1));
    return any(worker, 16) ? HASP_TX_OK : ABORTED;
}

static int add_up(struct hasp_tx *tx, void *argument)
{
    uint64_t sum = 0, one;
    (void)argument;
    for (int i = 0; i < ACCOUNTS; i++) {
        HASP_TX_TRY(hasp_tx_load(tx, &accounts[i], &one));
        sum += one;
    }
    CHECK_EQUAL(sum, ACCOUNTS * EACH); /* also if the transaction will be aborted */
    return HASP_TX_OK;
}

/* Finds the link to the first node whose key is not less than `key`. */
static int find(struct hasp_tx *tx, uint64_t key, struct hasp_word **link,
                struct node **found, bool *equal)
{
    uint64_t next, at, product;
    *link = &first;
    for (;;) {
        HASP_TX_TRY(hasp_tx_load(tx, *link, &next));
        *found = (struct node *)(uintptr_t)next;
        *equal = false;
        if (!next)
            return HASP_TX_OK;
        HASP_TX_TRY(hasp_tx_load(tx, &(*found)->key, &at));
        HASP_TX_TRY(hasp_tx_load(tx, &(*found)->product, &product));
        CHECK_EQUAL(product, FACTOR * at);
        *equal = at == key;
        if (at >= key)
            return HASP_TX_OK;
        *link = &(*found)->next;
    }
}

/* Inserts the key if it is absent, and removes it if it is present. */
static int toggle(struct hasp_tx *tx, void *argument)
{
    struct worker *worker = argument;
    uint64_t key = 1 + any(worker, KEYS), next;
    struct hasp_word *link;
    struct node *node = NULL;
    void *block;
    bool equal;
    HASP_TX_TRY(find(tx, key, &link, &node, &equal));
    worker->inserted = equal ? -1 : 1;
    if (equal) {
        HASP_TX_TRY(hasp_tx_load(tx, &node->next, &next));
        HASP_TX_TRY(hasp_tx_store(tx, link, next));
        return hasp_tx_free(tx, node);
    }
    HASP_TX_TRY(hasp_tx_allocate(tx, sizeof *node, &block));
    struct node *fresh = block;
    hasp_word_set(&fresh->key, key);
    hasp_word_set(&fresh->product, FACTOR * key);
    hasp_word_set(&fresh->next, (uint64_t)(uintptr_t)node);
    return hasp_tx_store(tx, link, (uint64_t)(uintptr_t)fresh);
}

/* Takes the first node out, waits, and uses it without transactions. */
static int take_first(struct hasp_tx *tx, void *argument)
{
    uint64_t at, next = 0;
    HASP_TX_TRY(hasp_tx_load(tx, &first, &at));
    if (at) {
        HASP_TX_TRY(hasp_tx_load(tx, &((struct node *)(uintptr_t)at)->next, &next));
        HASP_TX_TRY(hasp_tx_store(tx, &first, next));
    }
    *(struct node **)argument = (struct node *)(uintptr_t)at;
    return HASP_TX_OK;
}

static int64_t use_privately(struct worker *worker)
{
    struct node *node = NULL;
    CHECK_EQUAL(hasp_tx_run(worker->tx, take_first, &node), HASP_TX_OK);
    CHECK(hasp_tm_await(tm));
    if (!node)
        return 0;
    memset(node, 0x5a, sizeof *node); /* a reader would find that it is not whole */
    hasp_tm_free(tm, node);
    return -1;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    int64_t length = 0;
    struct hasp_tx_options small = {.loads = 128, .stores = 8};
    CHECK_EQUAL(hasp_tx_open(&worker->tx, tm, &small), HASP_TX_OK);
    for (uint32_t turn = 0; !load_relaxed(&stop); turn++) {
        int result = hasp_tx_run(worker->tx, transfer, worker);
        CHECK(result == HASP_TX_OK || result == ABORTED);
        CHECK_EQUAL(hasp_tx_run(worker->tx, toggle, worker), HASP_TX_OK);
        length += worker->inserted;
        if (turn % 4 == 0)
            CHECK_EQUAL(hasp_tx_run(worker->tx, add_up, NULL), HASP_TX_OK);
        if (turn % 64 == 63)
            length += use_privately(worker);
    }
    hasp_tx_close(worker->tx);
    worker->inserted = length;
    return NULL;
}

static int64_t free_list(void)
{
    int64_t length = 0;
    uint64_t at = hasp_word_get(&first);
    while (at) {
        struct node *node = (struct node *)(uintptr_t)at;
        at = hasp_word_get(&node->next);
        hasp_tm_free(tm, node);
        length++;
    }
    return length;
}

int main(int count, char **arguments)
{
    static struct worker workers[THREADS];
    struct hasp_tm_memory memory = {allocate, release, NULL};
    struct hasp_tm_options options = {.memory = &memory, .attempts = 4, .stripes = 64};
    int64_t length = 0;
    double seconds = count > 2 ? atof(arguments[2]) : 0.3;
    if (count > 1)
        set_way(&options, arguments[1]);
    CHECK_EQUAL(hasp_tm_create(&tm, &options), HASP_TX_OK);
    for (int i = 0; i < ACCOUNTS; i++)
        hasp_word_set(&accounts[i], EACH);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].random = 88675123u + i * 7919;
        CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end)
        pause_for(1000);
    store_relaxed(&stop, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        length += workers[i].inserted;
    }
    uint64_t sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += hasp_tm_load(tm, &accounts[i]);
    CHECK_EQUAL(sum, ACCOUNTS * EACH);
    CHECK_EQUAL(free_list(), length);
    hasp_tm_destroy(tm);
    CHECK_EQUAL(load_relaxed(&blocks), 0);
    return 0;
}
