/* SPDX-License-Identifier: MIT */
/*
 * The write set: entries in the order of the first store to each word, and an index by
 * address, with open addressing. A slot of the index holds a generation and the
 * position of an entry, so a new generation empties it.
 */
#ifndef HASP_STRUCTURES_TRANSACTION_WRITES_H
#define HASP_STRUCTURES_TRANSACTION_WRITES_H

#include "structures/transaction/transaction.h"

#include <string.h>

enum { TX_GENERATION_SHIFT = 32 };

/* Empties the write set. */
static inline void writes_clear(struct transaction *tx)
{
    if (!tx->write_count)
        return;
    tx->write_count = 0;
    tx->filter = tx->filter_empty;
    if (unlikely(++tx->generation == 0)) {
        memset(tx->index, 0, sizeof(uint64_t) << tx->index_bits);
        tx->generation = 1;
    }
}

/* Returns the slot of the word, or the free one where it belongs. */
static inline uint64_t *writes_slot(const struct transaction *tx,
                                    const struct atomic_u64 *word)
{
    uint64_t mask = ((uint64_t)1 << tx->index_bits) - 1;
    uint64_t at = tx_hash(word) >> (64 - tx->index_bits);
    for (;; at = (at + 1) & mask) {
        uint64_t slot = tx->index[at];
        if (slot >> TX_GENERATION_SHIFT != tx->generation ||
            tx->writes[(uint32_t)slot].word == word)
            return &tx->index[at];
    }
}

/* Returns the word's entry, or NULL. */
static inline struct tx_write *writes_find(const struct transaction *tx,
                                           const struct atomic_u64 *word)
{
    if (!(tx->filter & tx_filter(word)))
        return NULL;
    uint64_t slot = *writes_slot(tx, word);
    return slot >> TX_GENERATION_SHIFT == tx->generation ? &tx->writes[(uint32_t)slot]
                                                         : NULL;
}

/* Returns TX_OK, or why the transaction has failed. */
static inline int tx_store(struct transaction *tx, struct atomic_u64 *word,
                           uint64_t value)
{
    if (unlikely(tx->state != TX_OK))
        return tx->state;
    uint64_t *slot = writes_slot(tx, word);
    if (*slot >> TX_GENERATION_SHIFT == tx->generation) {
        tx->writes[(uint32_t)*slot].value = value;
        return TX_OK;
    }
    if (unlikely(tx->write_count == tx->writes_most))
        return tx_fail(tx, TX_TOO_LARGE, &tx->counts.too_large);
    if (!tx->client) { /* the commit writes to both, one after the other */
        prefetch_for_write(tx_lock_of(tx, word));
        prefetch_for_write(word);
    }
    *slot = (uint64_t)tx->generation << TX_GENERATION_SHIFT | tx->write_count;
    struct tx_write *write = &tx->writes[tx->write_count++];
    write->word = word;
    write->value = value;
    tx->filter |= tx_filter(word);
    return unlikely(tx->eager) ? services_own(tx, word) : TX_OK;
}

#endif
