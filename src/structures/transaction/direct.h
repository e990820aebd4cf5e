/* SPDX-License-Identifier: MIT */
/* Accesses of single words that take effect at once, as small transactions would. */
#ifndef HASP_STRUCTURES_TRANSACTION_DIRECT_H
#define HASP_STRUCTURES_TRANSACTION_DIRECT_H

#include "structures/transaction/transaction.h"

/* Never sees a part of a commit: waits until a commit that writes to the stripe has
 * ended. */
uint64_t direct_load(struct tx_memory *memory, const struct atomic_u64 *word);

/* Waits for a transaction that runs alone. */
void direct_store(struct tx_memory *memory, struct atomic_u64 *word, uint64_t value);

/* Waits until every transaction that has begun before the call has ended. The caller is
 * not in one. Returns false if the platform's barrier has failed. */
bool direct_await_all(struct tx_memory *memory);

#endif
