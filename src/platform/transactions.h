/* SPDX-License-Identifier: MIT */
/*
 * Hardware transactions: an optional part of the platform contract.
 *
 * transactions_offered() returns whether the machine has them. If not, no other
 * function of this header may be called.
 *
 * transaction_begin() returns TRANSACTION_STARTED; everything up to the matching
 * transaction_commit() then takes effect at once or not at all. If the transaction
 * aborts, the outermost transaction_begin() returns a second time, with the stack and
 * all cells as they were at the first, and a status that gives the reason.
 * TRANSACTION_RETRY means that another attempt may succeed. Nesting is flat: an abort
 * rolls back every level, and only the outermost commit takes effect.
 *
 * A transaction aborts when another thread writes a line that it has read or written,
 * or reads a line that it has written (the responder loses); when it accesses more
 * lines than the caches can track; when it nests too deeply; on an interrupt; when it
 * parks, wakes another thread or yields; and on transaction_abort(code). Plain
 * variables outside the stack are not rolled back.
 *
 * transaction_depth() returns the caller's nesting level; 0 outside a transaction.
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
    TRANSACTION_NESTED = 32, /* with other bits: aborted in an inner transaction */
};

/* The code that was passed to transaction_abort(). */
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
