/* SPDX-License-Identifier: MIT */
/*
 * Hardware transactions (platform/transactions.h), as Intel's: the lines that a
 * transaction has read and written are marked, and a request of another core for one of
 * them ends it, where the line is already asked for when the mark would come too late.
 * What it writes is kept aside until it commits, all at one moment.
 *
 * An ended transaction is doomed: its thread goes back to where it began as soon as it
 * is to go on.
 */
#ifndef HASP_SIMULATOR_TRANSACTIONS_H
#define HASP_SIMULATOR_TRANSACTIONS_H

#include "simulator/thread.h"

/* Operations on cells of a thread that is in a transaction. */
uint64_t transaction_load(struct thread *self, const void *address, unsigned size);
void transaction_store(struct thread *self, void *address, unsigned size,
                       uint64_t value);

/* The running thread does what no transaction survives; does not return. */
__attribute__((noreturn)) void transaction_forbids(struct thread *self);

/* The running thread's transaction is doomed: goes back, does not return. */
__attribute__((noreturn)) void transaction_roll_back(struct thread *self);

#endif
