/* SPDX-License-Identifier: MIT */
/*
 * The state of a transactional memory and of a transaction, and the load.
 *
 * A transaction reads at a time: it accepts only words whose stripe has no newer
 * version, so all that it has read was there together at that time, also in a
 * transaction that will abort. Where a version is newer, it moves its time forward if
 * nothing that it has read has changed (T. Riegel, P. Felber, C. Fetzer, "A lazy
 * snapshot algorithm with eager validation", DISC 2006); otherwise it aborts.
 *
 * A transaction that follows a commit of its own begins at the time of that commit, and
 * need not load the clock, which every commit writes. What others have committed since
 * is newer than that time, so it is found when it is loaded.
 *
 * Stores stay in the write set until the commit. A transaction that aborts therefore
 * has nothing to undo.
 *
 * A transaction is a section of the epochs (structures/map/epochs.h), from its first
 * load to the end of its write-back: memory that it may still access is not freed.
 */
#ifndef HASP_STRUCTURES_TRANSACTION_TRANSACTION_H
#define HASP_STRUCTURES_TRANSACTION_TRANSACTION_H

#include "locks/list/descriptor.h"
#include "structures/map/retired.h"
#include "structures/transaction/versions.h"

/* Results of operations; hasp/transaction.h explains them. */
enum tx_result {
    TX_OK = 0,
    TX_AGAIN = 1,
    TX_TOO_LARGE = -1,
    TX_NO_MEMORY = -2,
    TX_NESTED = -3,
    TX_OUTSIDE = -4,
    TX_BAD_OPTIONS = -5,
    TX_UNKNOWN_LOCK = -6,
    TX_TOO_MANY = -7,
};

/* What ended a transaction without a commit, or how it went. */
struct tx_counts {
    uint64_t begun, committed, committed_alone;
    uint64_t load_locked;    /* a load found a stripe locked, for too long */
    uint64_t load_changed;   /* it found a newer version, and a read word had changed */
    uint64_t commit_locked;  /* the commit found a stripe locked, for too long */
    uint64_t commit_changed; /* a word read had changed */
    uint64_t closed;         /* another transaction ran alone */
    /* Over messages: it has lost a conflict of this kind. */
    uint64_t read_after_write, write_after_read, write_after_write;
    uint64_t by_program, too_large, no_memory;
    uint64_t extended;     /* moved forward in time: not an abort */
    uint64_t most_retries; /* of a transaction that then committed */
};

/* Where memory comes from. `allocate` returns zeroed memory, or NULL. */
struct tx_allocator {
    void *(*allocate)(void *context, size_t bytes);
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
};

enum { TX_LISTS = 16 /* of retired memory */ };

struct tx_client;
struct tx_services;

struct tx_memory {
    struct atomic_u64 clock __attribute__((aligned(CACHE_LINE)));

    struct atomic_u64 *locks __attribute__((aligned(CACHE_LINE))); /* of stripes */
    uint64_t stripes;                                              /* a power of 2 */
    uint32_t shift;         /* a stripe has 1 << shift consecutive bytes, and others */
    uint32_t attempts_most; /* then the transaction runs alone */
    struct epochs *epochs;
    struct tx_allocator allocator;
    struct lock_operations operations;
    struct tx_services *services; /* of transactions over messages, or NULL */
    void *services_block;
    uint32_t services_most;

    /* Held by the transaction that runs alone. */
    struct lock alone __attribute__((aligned(CACHE_LINE)));
    struct retired_list lists[TX_LISTS] __attribute__((aligned(CACHE_LINE)));
};

/* Returns zeroed memory from the allocator, or NULL. */
static inline void *tx_take(const struct tx_memory *memory, size_t bytes)
{
    return memory->allocator.allocate(memory->allocator.context, bytes);
}

/* Gives memory back to the allocator. NULL is allowed. */
static inline void tx_give(const struct tx_memory *memory, void *taken, size_t bytes)
{
    if (taken)
        memory->allocator.release(memory->allocator.context, taken, bytes);
}

struct tx_write {
    struct atomic_u64 *word;
    uint64_t value;
    struct atomic_u64 *lock; /* of the word's stripe; not over messages */
    uint64_t
        before; /* its version; or TX_NOT_HELD, if an earlier write has locked it */
};

#define TX_NOT_HELD VERSION_LOCKED

struct tx_block;

struct transaction {
    struct tx_memory *memory;
    struct atomic_u64 *locks; /* copies of the memory's */
    uint64_t mask;
    uint32_t shift;
    int32_t state;   /* TX_OUTSIDE; TX_OK; or why every operation fails until the end */
    uint64_t now;    /* the time at which it reads */
    uint64_t own;    /* time of its commit, if the next one begins there; or 0 */
    uint64_t newest; /* version of the stripes that the commit has locked */
    uint64_t filter; /* of the words in the write set, a bit each */
    uint64_t filter_empty;    /* its value without stores */
    struct tx_client *client; /* over messages (services.h), or NULL */
    bool eager;               /* a store gets its stripe at once */

    const struct atomic_u64 **reads;
    uint32_t read_count, reads_most;
    uint32_t write_count, writes_most;
    struct tx_write *writes;
    uint64_t *index; /* of the write set (writes.h) */
    uint32_t index_bits, generation;

    struct epochs_record *record;
    bool outermost; /* of epochs_enter() */
    bool alone;     /* it has closed the clock, and holds memory->alone */
    bool was_closed;
    uint32_t attempts; /* that conflicts have aborted in a row */
    uint32_t random;
    uint32_t pressure; /* blocks retired since the last collection */
    struct tx_block *taken;
    void **freed; /* at the commit; room for writes_most */
    uint32_t freed_count;
    struct tx_counts counts;
} __attribute__((aligned(CACHE_LINE)));

static inline struct atomic_u64 *tx_lock_of(const struct transaction *tx,
                                            const struct atomic_u64 *word)
{
    return &tx->locks[((uintptr_t)word >> tx->shift) & tx->mask];
}

/* Returns the number of the word's bit. */
static inline unsigned tx_filter(const struct atomic_u64 *word)
{
    return (unsigned)((uintptr_t)word >> 3 ^ (uintptr_t)word >> 9) % 64;
}

/* Whether the word may be in the write set. */
static inline bool tx_filtered(const struct transaction *tx,
                               const struct atomic_u64 *word)
{
    return tx->filter >> tx_filter(word) & 1;
}

/* The rest of tx_load(): a conflict, a full read set, a transaction that has
 * failed, or a word that may be in the write set. */
int tx_load_slowly(struct transaction *tx, const struct atomic_u64 *word,
                   uint64_t *value);

/* Over messages: begins. */
void services_begin(struct transaction *tx);

/* Over messages: gets the stripe of a word that is stored to. */
int services_own(struct transaction *tx, const struct atomic_u64 *word);

/* Returns TX_OK and stores the value; or why the transaction has failed. */
static inline int tx_load(struct transaction *tx, const struct atomic_u64 *word,
                          uint64_t *value)
{
    if (likely(tx->state == TX_OK && !tx_filtered(tx, word))) {
        struct atomic_u64 *lock = tx_lock_of(tx, word);
        uint64_t version = version_read(lock);
        uint64_t found = load_acquire(word);
        if (likely(version <= tx->now && version_is_still(lock, version) &&
                   tx->read_count < tx->reads_most)) {
            tx->reads[tx->read_count++] = word;
            *value = found;
            return TX_OK;
        }
    }
    return tx_load_slowly(tx, word, value);
}

/* Ends the transaction's work: all operations but the end now return `why`. */
static inline int tx_fail(struct transaction *tx, enum tx_result why, uint64_t *count)
{
    ++*count;
    tx->state = (int32_t)why;
    return (int)why;
}

#endif
