/* SPDX-License-Identifier: MIT */
#include "structures/transaction/writes.h"

#include <string.h>

enum { GENERATION_SHIFT = 32 };

/* Returns the slot of the word, or the free one where it belongs. */
static uint64_t *slot_of(const struct transaction *tx, const struct atomic_u64 *word)
{
    uint64_t mask = ((uint64_t)1 << tx->index_bits) - 1;
    uint64_t hash = ((uintptr_t)word >> 3) * 0x9e3779b97f4a7c15u;
    for (uint64_t at = hash >> (64 - tx->index_bits);; at = (at + 1) & mask) {
        uint64_t slot = tx->index[at];
        if (slot >> GENERATION_SHIFT != tx->generation ||
            tx->writes[(uint32_t)slot].word == word)
            return &tx->index[at];
    }
}

struct tx_write *writes_find(const struct transaction *tx,
                             const struct atomic_u64 *word)
{
    if (!tx_filtered(tx, word))
        return NULL;
    if (tx->write_count > TX_SCANNED) {
        uint64_t slot = *slot_of(tx, word);
        return slot >> GENERATION_SHIFT == tx->generation ? &tx->writes[(uint32_t)slot]
                                                          : NULL;
    }
    for (uint32_t i = 0; i < tx->write_count; i++)
        if (tx->writes[i].word == word)
            return &tx->writes[i];
    return NULL;
}

static void note(struct transaction *tx, const struct atomic_u64 *word, uint32_t entry)
{
    *slot_of(tx, word) = (uint64_t)tx->generation << GENERATION_SHIFT | entry;
}

void writes_index(struct transaction *tx, const struct atomic_u64 *word)
{
    for (uint32_t i = 0; i < TX_SCANNED && tx->write_count == TX_SCANNED; i++)
        note(tx, tx->writes[i].word, i);
    note(tx, word, tx->write_count);
}

void writes_forget_index(struct transaction *tx)
{
    if (unlikely(++tx->generation == 0)) {
        memset(tx->index, 0, sizeof(uint64_t) << tx->index_bits);
        tx->generation = 1;
    }
}
