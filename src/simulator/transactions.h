/* SPDX-License-Identifier: MIT */
/*
 * Hardware transactions (platform/htm.h) that work as Intel's do. Lines that a
 * transaction has read or written are marked before they are requested, and a
 * conflicting access by another thread aborts it. Its writes are buffered and become
 * visible together when it commits.
 *
 * An aborted transaction is doomed: its thread rolls back when it next continues.
 */
#ifndef HASP_SIMULATOR_TRANSACTIONS_H
#define HASP_SIMULATOR_TRANSACTIONS_H

#include "simulator/thread.h"

/* Accesses by a thread that is in a transaction. */
uint64_t transaction_load(struct thread *self, const void *address, unsigned size);
void transaction_store(struct thread *self, void *address, unsigned size,
                       uint64_t value);

/* Aborts the running thread's transaction because of an operation that is not allowed
 * in one, such as a system call. */
__attribute__((noreturn)) void transaction_forbids(struct thread *self);

/* Returns to the beginning of the running thread's doomed transaction. */
__attribute__((noreturn)) void transaction_roll_back(struct thread *self);

#endif
