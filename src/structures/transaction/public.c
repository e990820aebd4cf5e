/* SPDX-License-Identifier: MIT */
/* The functions of hasp/transaction.h. */
#include "hasp/transaction.h"

#include "structures/map/threads.h"
#include "structures/transaction/attempt.h"
#include "structures/transaction/blocks.h"
#include "structures/transaction/commit.h"
#include "structures/transaction/create.h"
#include "structures/transaction/direct.h"

#include <stdlib.h>

struct hasp_tm {
    struct tx_memory inner;
};

_Static_assert((int)HASP_TX_UNKNOWN_LOCK == (int)TX_UNKNOWN_LOCK &&
                   (int)HASP_TX_AGAIN == (int)TX_AGAIN,
               "the results are the same");
_Static_assert(sizeof(struct hasp_word) == sizeof(uint64_t), "a word has no overhead");
_Static_assert(sizeof(struct hasp_tx_counts) == sizeof(struct tx_counts) &&
                   offsetof(struct hasp_tx_counts, most_retries) ==
                       offsetof(struct tx_counts, most_retries),
               "the counts are the same");

enum { BLOCK_ALIGNMENT = 16 };

static void *take_block(void *context, size_t bytes)
{
    (void)context;
    return threads_memory.allocate(NULL, bytes, BLOCK_ALIGNMENT);
}

static void give_block(void *context, void *block, size_t bytes)
{
    (void)context;
    threads_memory.release(NULL, block, bytes);
}

static void *make(size_t bytes)
{
    void *made = NULL;
    if (posix_memalign(&made, CACHE_LINE, bytes) != 0)
        return NULL;
    return memset(made, 0, bytes);
}

int hasp_tm_create(struct hasp_tm **tm, const struct hasp_tm_options *options)
{
    struct tx_memory_options own;
    struct tx_allocator allocator = {take_block, give_block, NULL};
    memset(&own, 0, sizeof own);
    if (options) {
        own.lock = options->lock_name;
        own.stripes = options->stripes;
        own.stripe_bytes = options->stripe_bytes;
        own.attempts = options->attempts;
        own.servers = options->servers;
        own.manager = options->manager;
        own.eager = options->eager;
        if (options->memory) {
            allocator.allocate = options->memory->allocate;
            allocator.release = options->memory->release;
            allocator.context = options->memory->context;
        }
    }
    struct hasp_tm *fresh = (struct hasp_tm *)make(sizeof *fresh);
    if (!fresh || !threads_prepare()) {
        free(fresh);
        return HASP_TX_NO_MEMORY;
    }
    int result = tx_memory_prepare(&fresh->inner, &own, &allocator, &threads_epochs);
    if (result != TX_OK)
        free(fresh);
    else
        *tm = fresh;
    return result;
}

void hasp_tm_destroy(struct hasp_tm *tm)
{
    if (!tm)
        return;
    tx_memory_finish(&tm->inner);
    free(tm);
}

int hasp_tx_open(struct hasp_tx **tx, struct hasp_tm *tm,
                 const struct hasp_tx_options *options)
{
    struct hasp_tx *fresh = (struct hasp_tx *)make(sizeof *fresh);
    if (!fresh)
        return HASP_TX_NO_MEMORY;
    int result = tx_prepare(&fresh->inner, &tm->inner, options ? options->loads : 0,
                            options ? options->stores : 0);
    if (result != TX_OK)
        free(fresh);
    else
        *tx = fresh;
    return result;
}

void hasp_tx_close(struct hasp_tx *tx)
{
    if (!tx)
        return;
    tx_finish(&tx->inner);
    free(tx);
}

int hasp_tx_abort(struct hasp_tx *tx)
{
    return tx_abort(&tx->inner);
}

int hasp_tx_forget(struct hasp_tx *tx, const struct hasp_word *word)
{
    if (tx->inner.state == TX_OK)
        commit_forget(&tx->inner, &word->cell);
    return tx->inner.state;
}

int hasp_tx_allocate(struct hasp_tx *tx, size_t bytes, void **block)
{
    return tx_allocate(&tx->inner, bytes, block);
}

int hasp_tx_free(struct hasp_tx *tx, void *block)
{
    return tx_free(&tx->inner, block);
}

void hasp_tx_count(const struct hasp_tx *tx, struct hasp_tx_counts *counts)
{
    memcpy(counts, &tx->inner.counts, sizeof *counts);
}

uint64_t hasp_tm_load(struct hasp_tm *tm, const struct hasp_word *word)
{
    return direct_load(&tm->inner, &word->cell);
}

void hasp_tm_store(struct hasp_tm *tm, struct hasp_word *word, uint64_t value)
{
    direct_store(&tm->inner, &word->cell, value);
}

void *hasp_tm_allocate(struct hasp_tm *tm, size_t bytes)
{
    return block_allocate(&tm->inner, bytes);
}

void hasp_tm_free(struct hasp_tm *tm, void *block)
{
    block_release(&tm->inner, block);
}

bool hasp_tm_await(struct hasp_tm *tm)
{
    const struct epochs_record *record = threads_own;
    if (record != &threads_none && load_relaxed(&record->epoch))
        return false; /* it would wait for itself */
    bool waited = direct_await_all(&tm->inner);
    blocks_collect(&tm->inner);
    return waited;
}

const char *hasp_tx_explain(int result)
{
    static const char *const errors[] = {"done",
                                         "the transaction loads or stores too much",
                                         "the system has no memory left",
                                         "the transaction has begun already",
                                         "the transaction has not begun",
                                         "the options are not valid",
                                         "there is no lock of this name",
                                         "too many transactions are open"};
    if (result > 0)
        return result == TX_AGAIN ? "a conflict: the transaction has to run again"
                                  : "the program has aborted the transaction";
    unsigned index = 0u - (unsigned)result;
    return index < sizeof errors / sizeof errors[0] ? errors[index]
                                                    : "there is no such result";
}
