/* SPDX-License-Identifier: MIT */
/*
 * The write set: entries in the order of the first store to each word. A filter tells
 * most words that are not in it. The others are searched for one by one while there are
 * few entries; then an index by address, with open addressing, has all of them. A slot
 * of the index holds a generation and the position of an entry, so a new generation
 * empties it.
 */
#ifndef HASP_STRUCTURES_TRANSACTION_WRITES_H
#define HASP_STRUCTURES_TRANSACTION_WRITES_H

#include "structures/transaction/transaction.h"

enum { TX_SCANNED = 32 /* entries without an index */ };

/* Returns the word's entry, or NULL. */
struct tx_write *writes_find(const struct transaction *tx,
                             const struct atomic_u64 *word);

/* Adds the word that the next entry is for to the index. */
void writes_index(struct transaction *tx, const struct atomic_u64 *word);

/* Empties the index. */
void writes_forget_index(struct transaction *tx);

/* Empties the write set. */
static inline void writes_clear(struct transaction *tx)
{
    if (!tx->write_count)
        return;
    if (unlikely(tx->write_count > TX_SCANNED))
        writes_forget_index(tx);
    tx->write_count = 0;
    tx->filter = tx->filter_empty;
}

/* Returns TX_OK, or why the transaction has failed. */
static inline int tx_store(struct transaction *tx, struct atomic_u64 *word,
                           uint64_t value)
{
    if (unlikely(tx->state != TX_OK))
        return tx->state;
    struct tx_write *write;
    if (unlikely(tx_filtered(tx, word)) && (write = writes_find(tx, word)) != NULL) {
        write->value = value;
        return TX_OK;
    }
    if (unlikely(tx->write_count == tx->writes_most))
        return tx_fail(tx, TX_TOO_LARGE, &tx->counts.too_large);
    if (unlikely(tx->write_count >= TX_SCANNED))
        writes_index(tx, word);
    write = &tx->writes[tx->write_count++];
    write->word = word;
    write->value = value;
    tx->filter |= (uint64_t)1 << tx_filter(word);
    if (unlikely(tx->client != NULL))
        return tx->eager ? services_own(tx, word) : TX_OK;
    write->lock = tx_lock_of(tx, word);
    prefetch_for_write(
        write->lock); /* the commit writes to both, one after the other */
    prefetch_for_write(word);
    return TX_OK;
}

#endif
