/* SPDX-License-Identifier: MIT */
/*
 * Memory that transactions allocate and free. A block that an aborted transaction has
 * allocated is given back at once: nobody else has seen it. One that a committed
 * transaction has freed is given back when all transactions that may still read it have
 * ended.
 */
#ifndef HASP_STRUCTURES_TRANSACTION_BLOCKS_H
#define HASP_STRUCTURES_TRANSACTION_BLOCKS_H

#include "structures/transaction/transaction.h"

/* In front of a block's bytes. */
struct tx_block {
    struct retired retired;
    struct tx_block *next; /* that the transaction has allocated */
    size_t bytes;          /* with this header */
} __attribute__((aligned(16)));

/* Returns zeroed memory, aligned to 16 bytes, or NULL. It belongs to the caller. */
void *block_allocate(struct tx_memory *memory, size_t bytes);

/* Gives it back at once. No transaction can reach it. NULL is allowed. */
void block_release(struct tx_memory *memory, void *bytes);

/* The same for a transaction. Each returns TX_OK, or why the transaction has failed. */
int tx_allocate(struct transaction *tx, size_t bytes, void **block);
int tx_free(struct transaction *tx, void *block);

/* Frees what a committed transaction has freed, once nobody can read it. */
void blocks_retire(struct transaction *tx);

/* Gives back what an aborted transaction has allocated. */
void blocks_give_back(struct transaction *tx);

/* Gives back what no transaction can read any more. Returns whether nothing is left. */
bool blocks_collect(struct tx_memory *memory);

/* Gives everything back. Nobody uses the memory any more. */
void blocks_collect_unused(struct tx_memory *memory);

#endif
