/* SPDX-License-Identifier: MIT */
/*
 * Transactions for workloads, in programs that contain them; without/transacting.h is
 * for those that do not. The include path picks one of the two.
 */
#ifndef HASP_BENCH_WORKLOADS_TRANSACTING_H
#define HASP_BENCH_WORKLOADS_TRANSACTING_H

#include "bench/workloads/workloads.h"
#include "structures/transaction/attempt.h"
#include "structures/transaction/create.h"
#include "structures/transaction/writes.h"

enum { CAN_TRANSACT = true };

/* A memory and its transactions, one for each worker. */
struct transacting {
    struct tx_memory memory;
    struct epochs epochs;
    struct transaction *transactions;
    struct epochs_record *records;
};

static inline void *transacting_take(void *context, size_t bytes)
{
    return run_memory(context, bytes);
}

static inline void transacting_give(void *context, void *memory, size_t bytes)
{
    (void)context, (void)memory, (void)bytes; /* a run's memory is never unmapped */
}

/* Returns false, with an explanation, if memory is exhausted. Transactions access at
 * most `accesses` words. */
static inline bool transacting_prepare(struct run *run, struct transacting *shared,
                                       uint32_t accesses)
{
    const struct tx_allocator allocator = {transacting_take, transacting_give, run};
    const struct tx_memory_options options = {0};
    shared->transactions = run_memory(run, run->threads * sizeof *shared->transactions);
    shared->records = run_memory(run, run->threads * sizeof *shared->records);
    if (!shared->transactions || !shared->records ||
        tx_memory_prepare(&shared->memory, &options, &allocator, &shared->epochs) != 0)
        return false;
    for (unsigned i = 0; i < run->threads; i++) {
        struct transaction *tx = &shared->transactions[i];
        if (tx_prepare(tx, &shared->memory, accesses, accesses) != TX_OK)
            return false;
        tx->random = i + 1; /* not an address: the same on every host */
    }
    return true;
}

/* Called by each worker before its first transaction. */
static inline void transacting_enter(struct transacting *shared, unsigned worker)
{
    if (worker == 0)
        epochs_prepare(&shared->epochs, true);
}

static inline void transacting_begin(struct transacting *shared, unsigned worker)
{
    tx_begin(&shared->transactions[worker], &shared->records[worker]);
}

/* Returns false if the transaction has to run again. */
static inline bool transacting_commit(struct transacting *shared, unsigned worker)
{
    return tx_commit(&shared->transactions[worker]) == TX_OK;
}

/* Loads into `*value`. Returns false if the transaction has to run again. */
static inline bool transacting_load(struct transacting *shared, unsigned worker,
                                    struct atomic_u64 *word, uint64_t *value)
{
    return tx_load(&shared->transactions[worker], word, value) == TX_OK;
}

static inline bool transacting_store(struct transacting *shared, unsigned worker,
                                     struct atomic_u64 *word, uint64_t value)
{
    return tx_store(&shared->transactions[worker], word, value) == TX_OK;
}

#endif
