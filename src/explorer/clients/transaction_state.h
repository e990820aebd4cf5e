/* SPDX-License-Identifier: MIT */
/* The transactional memory under check, and a transaction for each thread. */
#ifndef HASP_EXPLORER_CLIENTS_TRANSACTION_STATE_H
#define HASP_EXPLORER_CLIENTS_TRANSACTION_STATE_H

#include "explorer/base/limits.h"
#include "explorer/execution/services.h"

#include "structures/transaction/attempt.h"
#include "structures/transaction/blocks.h"
#include "structures/transaction/writes.h"

/* Each word is in a stripe of its own; with NEIGHBOURS_SHIFT, two are in one. POINTER
 * leads to the first node. */
enum { WORD_SHIFT = 3, NEIGHBOURS_SHIFT };
enum { X, Y, POINTER, NODE, OTHER_NODE, WORDS = 8 };
enum { POISON = 0xdead };

extern struct atomic_u64 tx_words[WORDS];
extern struct tx_memory tx_memory;
extern struct epochs_record tx_records[THREADS];

/* A thread's transaction, with room for few loads and stores. */
enum { SET = 4, INDEX_BITS = 3 };
extern struct client_transaction {
    struct transaction tx;
    const struct atomic_u64 *reads[SET];
    struct tx_write writes[SET];
    void *freed[SET];
    uint64_t index[1 << INDEX_BITS];
} transactions[THREADS];

/* The contents of the nodes, read and written plainly. */
extern uint32_t contents[WORDS];

extern struct node_block {
    struct tx_block header;
    uint64_t word; /* its index in `words` */
} tx_nodes[2];

/* For clients that do not suit transactions over messages. */
bool meets_in_memory(const struct lock_descriptor *about);
bool meets_by_messages(const struct lock_descriptor *about);

/* Spoils the contents of the node. */
void give_node(void *context, void *block, size_t bytes);

static inline struct transaction *begin(unsigned thread)
{
    struct transaction *tx = &transactions[thread].tx;
    begin_operation();
    expect(tx_begin(tx, &tx_records[thread]) == TX_OK, "it has begun before");
    return tx;
}

static inline void begin_alone(unsigned thread)
{
    transactions[thread].tx.attempts = tx_memory.attempts_most;
    expect(begin(thread)->alone, "it does not run alone");
}

static inline bool load(struct transaction *tx, unsigned word, uint64_t *value)
{
    return tx_load(tx, &tx_words[word], value) == TX_OK;
}

static inline void add_one(unsigned thread, unsigned word)
{
    uint64_t value = 0;
    struct transaction *tx;
    do {
        tx = begin(thread);
        if (load(tx, word, &value))
            tx_store(tx, &tx_words[word], value + 1);
    } while (tx_commit(tx) == TX_AGAIN);
}

static inline void store_both(unsigned thread, uint64_t value)
{
    struct transaction *tx;
    do {
        tx = begin(thread);
        tx_store(tx, &tx_words[X], value);
        tx_store(tx, &tx_words[Y], value);
    } while (tx_commit(tx) == TX_AGAIN);
}

#endif
