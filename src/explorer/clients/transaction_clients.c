/* SPDX-License-Identifier: MIT */
/*
 * Clients of transactional memory: transactions take effect one after the other, all
 * that one loads was there at one moment even if it aborts later, and memory is freed
 * when no transaction can read it.
 */
#include "explorer/base/variables.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/transaction_snapshots.h"
#include "explorer/clients/transaction_state.h"
#include "explorer/execution/services.h"

#include "structures/transaction/attempt.h"
#include "structures/transaction/blocks.h"
#include "structures/transaction/commit.h"
#include "structures/transaction/direct.h"
#include "structures/transaction/services.h"
#include "structures/transaction/writes.h"

enum { COLLECTIONS = EPOCHS_APART + 2 };

static void finish_nothing(void)
{
    expect(!(load_relaxed(&tx_memory.clock) & CLOCK_CLOSED), "the clock stays closed");
}

static void expect_words(uint64_t x, uint64_t y)
{
    finish_nothing();
    expect(load_relaxed(&tx_words[X]) == x, "a store is lost");
    expect(load_relaxed(&tx_words[Y]) == y, "a store is lost");
}

static void increments(unsigned thread)
{
    add_one(thread, X);
}

static void finish_increments(void)
{
    expect_words(2, 0);
}

/* Each loads what the other one stores. */
static void skew(unsigned thread)
{
    uint64_t value = 0;
    struct transaction *tx = begin(thread);
    if (load(tx, thread, &value))
        tx_store(tx, &tx_words[X + Y - thread], value + 1);
    if (tx_commit(tx) == TX_OK)
        fetch_add_relaxed(&served, 1);
}

static void finish_skew(void)
{
    uint64_t sum = load_relaxed(&tx_words[X]) + load_relaxed(&tx_words[Y]);
    uint64_t committed = load_relaxed(&served);
    expect(committed < 2 || sum == 3, "both transactions came first");
    expect(committed != 1 || sum == 1, "a store is lost");
}

/* X is stored before Y. */
static void time_moves(unsigned thread)
{
    uint64_t x = 0, y = 0;
    if (thread == 0) {
        add_one(0, X);
        add_one(0, Y);
        return;
    }
    struct transaction *tx = begin(thread);
    if (load(tx, X, &x) && load(tx, Y, &y))
        expect(x >= y, "loads are from different moments");
    tx_commit(tx);
}

/* One transaction runs alone; the other one must give up, or come before it. */
static void alone(unsigned thread)
{
    if (thread) {
        add_one(thread, X);
        return;
    }
    uint64_t x = 0, y = 0;
    begin_alone(0);
    struct transaction *tx = &transactions[0].tx;
    expect(load(tx, X, &x) && load(tx, Y, &y), "a load fails");
    tx_store(tx, &tx_words[Y], y + 1);
    tx_store(tx, &tx_words[X], x + 1);
    expect(tx_commit(tx) == TX_OK, "its commit fails");
}

static void finish_alone(void)
{
    expect_words(2, 1);
}

static void alone_reads(unsigned thread)
{
    if (thread) {
        store_both(thread, 1);
        return;
    }
    uint64_t x = 0, y = 0;
    begin_alone(0);
    struct transaction *tx = &transactions[0].tx;
    expect(load(tx, X, &x) && load(tx, Y, &y), "a load fails");
    expect(x == y, "a transaction sees a part of another one");
    expect(tx_abort(tx) == TX_OK, "it cannot be aborted");
}

static void read_beside_alone(unsigned thread)
{
    if (thread) {
        expect_same(thread, X);
        return;
    }
    begin_alone(0);
    struct transaction *tx = &transactions[0].tx;
    tx_store(tx, &tx_words[X], 1);
    tx_store(tx, &tx_words[Y], 1);
    expect(tx_commit(tx) == TX_OK, "its commit fails");
}

static void direct_loads(unsigned thread)
{
    if (thread == 0) {
        store_both(0, 1);
        return;
    }
    begin_operation();
    uint64_t x = direct_load(&tx_memory, &tx_words[X]);
    begin_operation();
    uint64_t y = direct_load(&tx_memory, &tx_words[Y]);
    expect(x <= y, "a direct load sees a part of a transaction");
}

/* Y is stored before X, each directly. */
static void store_pair_directly(void)
{
    begin_operation();
    direct_store(&tx_memory, &tx_words[Y], 1);
    begin_operation();
    direct_store(&tx_memory, &tx_words[X], 1);
}

static void direct_pair(unsigned thread)
{
    uint64_t x = 0, y = 0;
    if (thread == 0) {
        store_pair_directly();
        return;
    }
    struct transaction *tx = begin(thread);
    if (load(tx, X, &x) && load(tx, Y, &y))
        expect(x <= y, "loads are from different moments");
    tx_commit(tx);
}

static void direct_pair_in_order(unsigned thread)
{
    uint64_t x = 0, y = 0;
    if (thread == 0) {
        store_pair_directly();
        return;
    }
    struct transaction *tx = begin(thread);
    if (load(tx, Y, &y) && load(tx, X, &x))
        expect(x <= y, "loads are from different moments");
    tx_commit(tx);
}

static void direct_stores(unsigned thread)
{
    if (thread == 0) {
        add_one(0, X);
    } else if (thread == 1) {
        begin_operation();
        direct_store(&tx_memory, &tx_words[X], 5);
    } else {
        begin_alone(2);
        struct transaction *tx = &transactions[2].tx;
        uint64_t x = 0, again = 0;
        expect(load(tx, X, &x) && load(tx, X, &again), "a load fails");
        expect(x == again, "a direct store intervenes");
        tx_commit(tx);
    }
}

static void finish_direct_stores(void)
{
    uint64_t x = load_relaxed(&tx_words[X]);
    expect(x == 5 || x == 6, "a store is lost");
    finish_nothing();
}

/* Follows the pointer, and reads the node that it leads to. */
static void read_node(unsigned thread)
{
    uint64_t pointer = 0, value = 0;
    struct transaction *tx = begin(thread);
    if (load(tx, POINTER, &pointer) && pointer) {
        uint64_t word = *(const uint64_t *)(uintptr_t)pointer;
        expect(contents[word] != POISON, "a node was freed too early");
        load(tx, (unsigned)word, &value);
    }
    tx_commit(tx);
}

static void collect(void)
{
    for (int i = 0; i < COLLECTIONS; i++) {
        begin_operation();
        struct retired *item = retired_collect(&tx_memory.lists[0], tx_memory.epochs);
        for (; item; item = item->next)
            give_node(NULL, item, sizeof(struct node_block));
    }
}

/* Replaces the node by another one, and frees the old one. */
static void replace_node(void)
{
    uint64_t old = 0;
    struct transaction *tx;
    contents[OTHER_NODE] = 1;
    do {
        tx = begin(0);
        if (load(tx, POINTER, &old)) {
            tx_store(tx, &tx_words[POINTER], (uint64_t)(uintptr_t)&tx_nodes[1].word);
            tx_free(tx, (void *)(uintptr_t)old);
        }
    } while (tx_commit(tx) == TX_AGAIN);
}

static void node_is_freed(unsigned thread)
{
    if (thread == 0) {
        replace_node();
        collect();
    } else {
        read_node(thread);
    }
}

/* The node becomes private, and is written plainly. */
static void privatisation(unsigned thread)
{
    struct transaction *tx;
    if (thread == 0) {
        do {
            tx = begin(0);
            tx_store(tx, &tx_words[POINTER], 0);
        } while (tx_commit(tx) == TX_AGAIN);
        begin_operation();
        direct_await_all(&tx_memory);
        contents[NODE] = 1;
        uint64_t value = load_relaxed(&tx_words[NODE]);
        expect(load_relaxed(&tx_words[NODE]) == value, "a private word changes");
        return;
    }
    uint64_t pointer = 0;
    tx = begin(1);
    if (load(tx, POINTER, &pointer) && pointer) {
        expect(contents[NODE] == 0, "a private node is read");
        tx_store(tx, &tx_words[NODE], 7);
    }
    tx_commit(tx);
}

/* Loads of X are forgotten: a store to X does not abort the transaction. */
static void forgotten(unsigned thread)
{
    uint64_t value = 0;
    if (thread) {
        add_one(1, X);
        return;
    }
    struct transaction *tx = begin(0);
    bool both = load(tx, X, &value) && load(tx, Y, &value);
    if (both) {
        commit_forget(tx, &tx_words[X]);
        tx_store(tx, &tx_words[Y], value + 1);
    }
    expect((tx_commit(tx) == TX_OK) == both, "a forgotten load conflicts");
}

/* Two transactions are opened and closed; there is one number for both. */
static void joins(unsigned thread)
{
    struct transaction *tx = &transactions[thread].tx;
    begin_operation();
    while (services_join(tx) != TX_OK)
        relax();
    expect(tx->client->number == 0 && tx->client->tx == tx, "it has a wrong number");
    add_one(thread, X);
    begin_operation();
    services_part(tx);
}

const struct client transaction_clients[] = {
    {.name = "snapshot",
     .summary = "one transaction stores two words, two threads load both",
     .threads = 3,
     .body = snapshot,
     .finish = finish_nothing},
    {.name = "neighbours",
     .summary = "two transactions store two words of one stripe, one thread loads them",
     .threads = 3,
     .body = neighbours,
     .finish = finish_nothing},
    {.name = "twice",
     .summary = "two transactions store the same words, one thread loads them",
     .threads = 2,
     .body = snapshot_of_two,
     .finish = finish_nothing},
    {.name = "increments",
     .summary = "two transactions increment the same word",
     .threads = 2,
     .body = increments,
     .finish = finish_increments},
    {.name = "skew",
     .summary = "two transactions each load what the other one stores",
     .threads = 2,
     .body = skew,
     .finish = finish_skew},
    {.name = "extend",
     .summary = "two words are stored one after the other while a thread loads both",
     .threads = 2,
     .body = time_moves,
     .finish = finish_nothing},
    {.name = "after-own",
     .summary = "a transaction follows its thread's commit while another one stores",
     .threads = 2,
     .body = after_own,
     .finish = finish_nothing},
    {.name = "alone",
     .summary = "one transaction runs alone while another one increments",
     .threads = 2,
     .body = alone,
     .finish = finish_alone},
    {.name = "alone-reads",
     .summary = "one transaction runs alone and aborts; another one stores two words",
     .threads = 2,
     .body = alone_reads,
     .finish = finish_nothing},
    {.name = "beside-alone",
     .summary = "one transaction runs alone and stores; another one loads",
     .threads = 2,
     .body = read_beside_alone,
     .finish = finish_nothing},
    {.name = "direct-loads",
     .summary = "words that a transaction stores are loaded directly",
     .threads = 2,
     .body = direct_loads,
     .finish = finish_nothing},
    {.name = "direct-pair",
     .summary = "two words are stored directly, a transaction loads them",
     .threads = 2,
     .body = direct_pair,
     .finish = finish_nothing},
    {.name = "direct-in-order",
     .summary = "the same, loaded in the order of the stores",
     .threads = 2,
     .body = direct_pair_in_order,
     .finish = finish_nothing},
    {.name = "direct-stores",
     .summary = "a direct store, an increment, and a transaction that runs alone",
     .threads = 3,
     .body = direct_stores,
     .finish = finish_direct_stores},
    {.name = "free",
     .summary = "a node is replaced and freed while a transaction reads it",
     .threads = 2,
     .body = node_is_freed,
     .finish = finish_nothing},
    {.name = "private",
     .summary = "a node becomes private while a transaction uses it",
     .threads = 2,
     .body = privatisation,
     .finish = finish_nothing},
    {.name = "forget",
     .summary = "a load is forgotten, and its word stored by another transaction",
     .threads = 2,
     .suits = meets_in_memory,
     .body = forgotten,
     .finish = finish_nothing},
    {.name = "joins",
     .summary = "two transactions are opened and closed one after the other",
     .threads = 2,
     .suits = meets_by_messages,
     .body = joins,
     .finish = finish_increments},
};
const unsigned transaction_client_count =
    sizeof transaction_clients / sizeof transaction_clients[0];
