/* SPDX-License-Identifier: MIT */
/*
 * Transactions for workloads, in programs that contain them; without/transacting.h is
 * for those that do not. The include path picks one of the two.
 */
#ifndef HASP_BENCH_WORKLOADS_TRANSACTING_H
#define HASP_BENCH_WORKLOADS_TRANSACTING_H

#include "bench/workloads/workloads.h"
#include "delegating.h"
#include "structures/transaction/attempt.h"
#include "structures/transaction/create.h"
#include "structures/transaction/services.h"
#include "structures/transaction/writes.h"

enum {
    CAN_TRANSACT = true,
    TRANSACTING_SERVERS = SERVERS_MOST,
    TRANSACTING_CLIENTS = TX_CLIENTS,
};

/* A memory and its transactions, one for each worker. What they allocate is taken from
 * one block, and never given back. */
struct transacting {
    struct tx_memory memory;
    struct epochs epochs;
    struct transaction *transactions;
    struct epochs_record *records;
    uint32_t accesses, servers;
    char *block;
    size_t bytes;
    struct atomic_u64 taken __attribute__((aligned(CACHE_LINE)));
};

static inline void *transacting_take(void *context, size_t bytes)
{
    struct transacting *shared = context;
    const size_t rounded = (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
    const uint64_t at = fetch_add_relaxed(&shared->taken, rounded);
    return at + rounded <= shared->bytes ? shared->block + at : NULL;
}

static inline void transacting_give(void *context, void *memory, size_t bytes)
{
    (void)context, (void)memory, (void)bytes;
}

/* Returns whether workers have to serve, because the platform starts no threads for
 * that. */
static inline bool transacting_needs_servers(void)
{
    return !STARTS_THREADS;
}

/* Returns false, with an explanation, if memory is exhausted. Transactions access at
 * most `accesses` words. */
static inline bool transacting_prepare(struct run *run, struct transacting *shared,
                                       uint32_t accesses, uint32_t servers)
{
    const size_t once = (size_t)TX_STRIPES * sizeof(struct tx_stripe) + (4 << 20);
    const size_t each = (accesses + 64) * (size_t)(512 + 64 * servers);
    shared->accesses = accesses;
    shared->servers = servers;
    shared->bytes = once + run->threads * each;
    shared->block = run_memory(run, shared->bytes);
    shared->transactions = run_memory(run, run->threads * sizeof *shared->transactions);
    shared->records = run_memory(run, run->threads * sizeof *shared->records);
    return shared->block && shared->transactions && shared->records;
}

/* Called by the first worker before all others begin. The workers from number `serving`
 * have transactions. */
static inline void transacting_enter(struct transacting *shared, unsigned workers,
                                     unsigned serving)
{
    const struct tx_allocator allocator = {transacting_take, transacting_give, shared};
    const struct tx_memory_options options = {.servers = shared->servers};
    epochs_prepare(&shared->epochs, true);
    if (tx_memory_prepare(&shared->memory, &options, &allocator, &shared->epochs) !=
        TX_OK)
        die("not enough memory or threads for transactions");
    for (unsigned i = serving; i < workers; i++) {
        struct transaction *tx = &shared->transactions[i];
        if (tx_prepare(tx, &shared->memory, shared->accesses, shared->accesses) !=
            TX_OK)
            die("not enough memory for a transaction");
        tx->random = i + 1; /* not an address: the same on every host */
    }
}

static inline void transacting_serve(const struct transacting *shared, unsigned server)
{
    delegating_serve(&shared->memory.services->all[0].delegate, server);
}

static inline void transacting_dismiss(const struct transacting *shared,
                                       unsigned server)
{
    delegating_dismiss(&shared->memory.services->all[0].delegate, server);
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
