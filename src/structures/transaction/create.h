/* SPDX-License-Identifier: MIT */
#ifndef HASP_STRUCTURES_TRANSACTION_CREATE_H
#define HASP_STRUCTURES_TRANSACTION_CREATE_H

#include "structures/transaction/transaction.h"

enum {
    TX_STRIPES = 1 << 16,
    TX_STRIPES_MOST = 1 << 28,
    TX_STRIPE_BYTES = 32,
    TX_STRIPE_BYTES_MOST = 4096,
    TX_ATTEMPTS = 16,
    TX_READS = 1 << 16,
    TX_WRITES = 1 << 14,
    TX_SET_MOST = 1 << 26, /* entries of a set */
};

/* What a memory is created with. Zero is a default for every field. */
struct tx_memory_options {
    const char *lock;
    uint64_t stripes;
    uint32_t stripe_bytes;
    uint32_t attempts;
    uint32_t servers; /* 0: shared memory */
    const char *manager;
    bool eager;
};

/* Makes `memory`, which is zeroed, a transactional memory. Returns an enum tx_result.
 * */
int tx_memory_prepare(struct tx_memory *memory, const struct tx_memory_options *options,
                      const struct tx_allocator *allocator, struct epochs *epochs);

/* Gives back all that belongs to it. Nobody uses it any more. */
void tx_memory_finish(struct tx_memory *memory);

/* Makes `tx`, which is zeroed, a transaction that is not running. 0: the defaults. */
int tx_prepare(struct transaction *tx, struct tx_memory *memory, uint32_t reads,
               uint32_t writes);
void tx_finish(struct transaction *tx);

#endif
