/* SPDX-License-Identifier: MIT */
/*
 * Hardware transactions: an optional part of the platform contract.
 *
 * transactions_offered(): whether the machine has them; without, nothing else here may
 * be called.
 *
 * transaction_begin() returns TRANSACTION_STARTED, and everything until the matching
 * transaction_commit() takes effect at once or not at all. If it does not, control
 * comes back out of the outermost transaction_begin(), the stack and all cells as they
 * were then, with bits that say why; TRANSACTION_RETRY: the same may succeed when tried
 * again. Transactions nest flat: an abort takes back every level, only the outermost
 * commit does anything.
 *
 * A transaction ends when another thread writes what it has read or written, or reads
 * what it has written (the responder loses); when it touches more lines than the caches
 * can mark; when it nests too deep; when an interrupt comes; when it parks, wakes
 * somebody or yields; by transaction_abort(code). Plain variables off the stack are not
 * taken back.
 *
 * transaction_depth(): levels that the caller is in; 0: none.
 */
#ifndef HASP_PLATFORM_TRANSACTIONS_H
#define HASP_PLATFORM_TRANSACTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The bits of x86's RTM. */
#define TRANSACTION_STARTED UINT32_MAX
enum {
    TRANSACTION_EXPLICIT = 1,
    TRANSACTION_RETRY = 2,
    TRANSACTION_CONFLICT = 4,
    TRANSACTION_CAPACITY = 8,
    TRANSACTION_NESTED = 32, /* with others: it was in an inner transaction */
};

/* What transaction_abort() was given. */
static inline uint8_t transaction_code(uint32_t status)
{
    return (uint8_t)(status >> 24);
}

bool transactions_offered(void);
uint32_t transaction_begin(void);
void transaction_commit(void);
void transaction_abort(uint8_t code);
unsigned transaction_depth(void);

#endif
