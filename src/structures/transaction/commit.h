/* SPDX-License-Identifier: MIT */
/* The commit of the write set, and what it shares with loads and direct accesses. */
#ifndef HASP_STRUCTURES_TRANSACTION_COMMIT_H
#define HASP_STRUCTURES_TRANSACTION_COMMIT_H

#include "structures/transaction/transaction.h"

/* Commits the writes. Returns TX_OK; or TX_AGAIN, and then nothing was written. */
int commit_writes(struct transaction *tx);

/* Removes all loads of the word from the read set. */
void commit_forget(struct transaction *tx, const struct atomic_u64 *word);

/* Waits until the stripe is not locked, and stores its version in *found. Returns false
 * if that takes longer than sleeping would cost, unless `patient`. */
bool commit_awaits(struct atomic_u64 *lock, uint64_t *found, bool patient);

#endif
