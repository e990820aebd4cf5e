/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Transactional memory: several loads and stores that take effect together, or not at
 * all, without a lock around them.
 *
 *     static int transfer(struct hasp_tx *tx, void *argument)
 *     {
 *         struct order *order = argument;
 *         uint64_t from, to;
 *         HASP_TX_TRY(hasp_tx_load(tx, order->from, &from));
 *         HASP_TX_TRY(hasp_tx_load(tx, order->to, &to));
 *         if (from < order->sum)
 *             return NOT_ENOUGH;
 *         HASP_TX_TRY(hasp_tx_store(tx, order->from, from - order->sum));
 *         HASP_TX_TRY(hasp_tx_store(tx, order->to, to + order->sum));
 *         return HASP_TX_OK;
 *     }
 *     ...
 *     int result = hasp_tx_run(tx, transfer, &order);
 *
 * Data are words: struct hasp_word, anywhere in memory, all accessed through the same
 * struct hasp_tm. A word has the same size as the uint64_t that it holds; zeroed memory
 * is a word that holds 0. Pointers are stored as (uint64_t)(uintptr_t)pointer.
 *
 * NO HIDDEN JUMPS. An operation that fails returns why, and the function has to return.
 * There is no longjmp() and nothing to undo: stores take effect at the commit. The body
 * of a transaction may run several times, so it should have no other side effects.
 *
 * OPACITY. Committed transactions take effect one after the other, in an order that
 * agrees with time. All that a transaction loads was there together at one moment, also
 * in one that will be aborted: it never divides by a difference that is never 0, or
 * follows a pointer to a node that is not there. What a thread did before it committed
 * a value happens before everything after a load of that value.
 *
 * RETRIES ARE BOUNDED. A transaction that conflicts have aborted `attempts` times runs
 * alone: it holds a lock of `hasp list`, chosen by name, and no other transaction
 * commits stores until it has ended. It cannot be aborted by others then.
 *
 * MEMORY that a transaction allocates is given back if it aborts. What it frees is
 * given back if it commits, once no other transaction can read it.
 *
 * PRIVATISATION. A transaction that has made data unreachable for others may access
 * them without transactions only after hasp_tm_await(): until then, others may still
 * read the data, or be storing what they have committed. Data that no other thread has
 * reached yet may be initialised by hasp_word_set(), and published by a store in a
 * transaction. A word must not be set that other transactions may reach.
 *
 * THREADS. A struct hasp_tx is used by one thread at a time, which runs one transaction
 * at a time; they do not nest. All else may be used by all threads. Not for signal
 * handlers. After a fork(), the child must not use a memory that other threads were
 * using. Do not longjmp() out of a transaction, and do not cancel a thread in one.
 *
 * ERRORS are negative results.
 */
#ifndef HASP_TRANSACTION_H
#define HASP_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/linkage.h"
#include "platform/native/sanitizer.h"
#include "structures/map/records.h"
#include "structures/transaction/attempt.h"
#include "structures/transaction/transaction.h"
#include "structures/transaction/writes.h"

C_LINKAGE_BEGIN

enum hasp_tx_result {
    HASP_TX_OK = 0,
    HASP_TX_AGAIN = 1,         /**< a conflict: the transaction has to run again */
    HASP_TX_TOO_LARGE = -1,    /**< it loads or stores more words than it may */
    HASP_TX_NO_MEMORY = -2,    /**< the system has no memory left */
    HASP_TX_NESTED = -3,       /**< it has begun already */
    HASP_TX_OUTSIDE = -4,      /**< it has not begun */
    HASP_TX_BAD_OPTIONS = -5,  /**< an option has a value that it cannot have */
    HASP_TX_UNKNOWN_LOCK = -6, /**< there is no lock of this name */
    HASP_TX_TOO_MANY = -7,     /**< 64 transactions over messages are open */
};

/** Returns from the calling function unless the result is HASP_TX_OK. */
#define HASP_TX_TRY(operation)                                                         \
    do {                                                                               \
        int hasp_tx_tried = (operation);                                               \
        if (hasp_tx_tried)                                                             \
            return hasp_tx_tried;                                                      \
    } while (0)

/** A variable of transactions. The member is private. */
struct hasp_word {
    struct atomic_u64 cell;
};

/** A transactional memory: the clock and the locks of the words that are accessed
 * through it. */
struct hasp_tm;

/** A transaction, which a thread uses again and again. The members are private. */
struct hasp_tx {
    struct transaction inner;
};

/** Where blocks and sets come from. Both functions may be called by all threads at the
 * same time. */
struct hasp_tm_memory {
    /** Returns `bytes` of zeroed memory, aligned to 16 bytes, or NULL. */
    void *(*allocate)(void *context, size_t bytes);
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
};

/** Zero is the default of every field. */
struct hasp_tm_options {
    /** The lock of the transaction that runs alone, as `hasp list` names it; NULL: the
     * default of `hasp run`. */
    const char *lock_name;
    /** Words are guarded in stripes: `stripe_bytes` (a power of two from 8 to 4096; 0:
     * 32) neighbouring bytes, and others at a distance. Stores to different words of a
     * stripe conflict. `stripes`: their number, a power of two up to 268435456, of 8
     * bytes each; 0: 65536. */
    uint64_t stripes;
    uint32_t stripe_bytes;
    /** After how many aborts a transaction runs alone; 0: 16. */
    uint32_t attempts;
    /** MESSAGES. 0: transactions detect conflicts in shared memory. 1 to 8: this number
     * of server threads own the stripes, and a transaction sends a message for each
     * stripe that it loads, and one to each server for all stripes that it stores to
     * (docs/transactions.md). They are the servers of ffwd in hasp/delegate.h; at most
     * 64 transactions may be open. `manager` decides which of two transactions in
     * conflict goes on:
     *   fair     the one of the thread whose commits took less time so far (default)
     *   greedy   the one that began first
     *   wholly   the one of the thread with fewer commits
     *   backoff  the one that came first to the stripe; the other one pauses, longer
     *            each time
     *   none     the same, but the pauses do not get longer
     * eager: a store asks for its stripe at once; otherwise the commit asks for all. */
    uint32_t servers;
    const char *manager;
    bool eager;
    const struct hasp_tm_memory *memory; /**< NULL: the C library's */
};

/** Bounds of a transaction: how often it may load (loads of its own stores do not
 * count), and how many words it may store, or blocks it may free. At most 67108864
 * each; 0: 65536 and 16384. It takes 8 bytes for each load, and 64 for each store, but
 * only what is used is backed by memory. */
struct hasp_tx_options {
    uint32_t loads, stores;
};

/** How many transactions of a struct hasp_tx ended how. */
struct hasp_tx_counts {
    uint64_t begun, committed;
    uint64_t committed_alone; /**< of these, after too many aborts */
    /** Aborted, and to be run again, because... */
    uint64_t load_locked;  /**< a load met a commit that took long */
    uint64_t load_changed; /**< a load found a newer word; an earlier one had changed */
    uint64_t commit_locked;  /**< the commit met another one that took long */
    uint64_t commit_changed; /**< at the commit, a word that was loaded had changed */
    uint64_t closed;         /**< another transaction ran alone */
    /** Over messages: it lost a conflict. The later of the two accesses comes first in
     * the name. */
    uint64_t read_after_write, write_after_read, write_after_write;
    /** Aborted for good. */
    uint64_t by_program, too_large, no_memory;
    /** Loads that found a newer word, and continued at a later time. */
    uint64_t extended;
    uint64_t most_retries; /**< of a transaction that then committed */
};

/** Creates a transactional memory.
 * @param tm receives it
 * @param options NULL for all defaults
 * @return OK, BAD_OPTIONS, UNKNOWN_LOCK or NO_MEMORY (also if a server cannot start).
 */
MUST_CHECK int hasp_tm_create(struct hasp_tm **tm,
                              const struct hasp_tm_options *options);

/** Gives back what belongs to it, retired blocks included. All its transactions are
 * closed. NULL is allowed. */
void hasp_tm_destroy(struct hasp_tm *tm);

/** Creates a transaction that is not running.
 * @param tx receives it
 * @param options NULL for all defaults
 * @return OK, BAD_OPTIONS, NO_MEMORY or TOO_MANY. */
MUST_CHECK int hasp_tx_open(struct hasp_tx **tx, struct hasp_tm *tm,
                            const struct hasp_tx_options *options);

/** Aborts the transaction if it is running, and frees it. NULL is allowed. */
void hasp_tx_close(struct hasp_tx *tx);

/** Begins the transaction, after a pause if its last attempt has failed.
 * @return OK; NESTED, and then the one that is running goes on; or NO_MEMORY, which is
 * possible only in the first call of a thread. */
MUST_CHECK static inline int hasp_tx_begin(struct hasp_tx *tx)
{
    struct epochs_record *record = threads_record();
    return unlikely(!record) ? (int)HASP_TX_NO_MEMORY : tx_begin(&tx->inner, record);
}

/** Ends the transaction.
 * @return OK if it has taken effect. Otherwise it has not: AGAIN, begin it again;
 * TOO_LARGE or NO_MEMORY, also where an earlier operation has returned that; OUTSIDE.
 */
MUST_CHECK static inline int hasp_tx_commit(struct hasp_tx *tx)
{
    note_release(tx->inner.memory);
    return tx_commit(&tx->inner);
}

/** Ends the transaction without effect.
 * @return OK or OUTSIDE. */
int hasp_tx_abort(struct hasp_tx *tx);

/** Loads a word: the value that it had when all words that the transaction has loaded
 * were there together, or the one that the transaction has stored.
 * @param value receives the value; unchanged unless OK is returned
 * @return OK; or AGAIN, TOO_LARGE or NO_MEMORY: the transaction has failed, and every
 * operation returns the same until the commit or abort; or OUTSIDE */
MUST_CHECK static inline int hasp_tx_load(struct hasp_tx *tx,
                                          const struct hasp_word *word, uint64_t *value)
{
    int result = tx_load(&tx->inner, &word->cell, value);
    note_acquired(tx->inner.memory);
    return result;
}

/** Stores to a word when the transaction commits.
 * @return as hasp_tx_load() */
static inline int hasp_tx_store(struct hasp_tx *tx, struct hasp_word *word,
                                uint64_t value)
{
    return tx_store(&tx->inner, &word->cell, value);
}

/** Early release: conflicts on the word no longer concern this transaction, unless it
 * loads the word again. Its later loads need not be from the same moment as the earlier
 * ones of the word: the program has to know that this is correct, as in a search that
 * has gone past a node. Takes time in proportion to the loads.
 * @return as hasp_tx_load() */
int hasp_tx_forget(struct hasp_tx *tx, const struct hasp_word *word);

/** Allocates memory, which is given back if the transaction aborts.
 * @param block receives the address of zeroed memory, aligned to 16 bytes
 * @return as hasp_tx_load() */
MUST_CHECK int hasp_tx_allocate(struct hasp_tx *tx, size_t bytes, void **block);

/** Frees a block that hasp_tx_allocate() or hasp_tm_allocate() has returned, if the
 * transaction commits, and when no other one can read it. The transaction has made it
 * unreachable. NULL is allowed.
 * @return as hasp_tx_load() */
int hasp_tx_free(struct hasp_tx *tx, void *block);

/** @return whether the transaction runs alone: unless it becomes too large or memory is
 * exhausted, its commit will succeed */
static inline bool hasp_tx_is_alone(const struct hasp_tx *tx)
{
    return tx->inner.alone;
}

/** Copies the counts since the transaction was opened. */
void hasp_tx_count(const struct hasp_tx *tx, struct hasp_tx_counts *counts);

/** The body of a transaction, for hasp_tx_run().
 * @return OK to commit; what an operation has returned to it; AGAIN to be run again
 * from the beginning, which is no conflict and so has no bound; or any other number to
 * abort */
typedef int hasp_tx_body(struct hasp_tx *tx, void *argument);

/** Runs the body as a transaction until it has committed or failed for good.
 * @param argument is passed to the body
 * @return OK; the number with which the body aborted; TOO_LARGE, NO_MEMORY or NESTED */
MUST_CHECK static inline int hasp_tx_run(struct hasp_tx *tx, hasp_tx_body *body,
                                         void *argument)
{
    for (;;) {
        int result = hasp_tx_begin(tx);
        if (result != HASP_TX_OK)
            return result;
        result = body(tx, argument);
        if (result == HASP_TX_OK || tx->inner.state != HASP_TX_OK)
            result = hasp_tx_commit(tx);
        else
            hasp_tx_abort(tx);
        if (result != HASP_TX_AGAIN)
            return result;
    }
}

/** Loads a word outside of transactions, with the effect of a transaction of its own:
 * waits for a commit that is storing to the same stripe.
 * @return the value */
uint64_t hasp_tm_load(struct hasp_tm *tm, const struct hasp_word *word);

/** Stores to a word in the same way. Also waits for a transaction that runs alone, so
 * it must not be called inside of a transaction. */
void hasp_tm_store(struct hasp_tm *tm, struct hasp_word *word, uint64_t value);

/** @return the value of a word that no other thread is accessing */
static inline uint64_t hasp_word_get(const struct hasp_word *word)
{
    return load_relaxed(&word->cell);
}

/** Sets a word that no other thread can reach. */
static inline void hasp_word_set(struct hasp_word *word, uint64_t value)
{
    store_relaxed(&word->cell, value);
}

/** @return zeroed memory for words, aligned to 16 bytes, or NULL. */
void *hasp_tm_allocate(struct hasp_tm *tm, size_t bytes);

/** Gives it back at once. No transaction can reach it. NULL is allowed. */
void hasp_tm_free(struct hasp_tm *tm, void *block);

/** Waits until all transactions that began before the call have ended, in any thread of
 * the process; then gives back all that it can of what transactions have freed.
 * @return false, and has not waited, inside of a transaction or of a function called by
 * hasp_map_read() or hasp_map_iterate(), or if the kernel has begun to forbid
 * membarrier. */
bool hasp_tm_await(struct hasp_tm *tm);

/** @return what a result means, as a phrase in English. */
const char *hasp_tx_explain(int result);

C_LINKAGE_END

#endif
