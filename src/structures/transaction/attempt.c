/* SPDX-License-Identifier: MIT */
#include "structures/transaction/attempt.h"

#include "platform/xorshift.h"
#include "structures/transaction/blocks.h"
#include "structures/transaction/commit.h"
#include "structures/transaction/services.h"
#include "structures/transaction/writes.h"

/* A pause is random, up to PAUSE_LEAST << attempts relax() calls. */
enum { PAUSE_LEAST = 8, PAUSE_DOUBLINGS = 8 };

static void run_alone(struct transaction *tx)
{
    struct tx_memory *memory = tx->memory;
    memory->operations.lock(&memory->alone);
    tx->alone = true;
    if (!tx->client)
        tx->now = clock_close(&memory->clock);
}

void tx_prepare_again(struct transaction *tx)
{
    struct tx_memory *memory = tx->memory;
    if (tx->attempts >= memory->attempts_most) {
        run_alone(tx);
        return;
    }
    if (tx->was_closed) { /* waits for the end of the one that runs alone */
        memory->operations.lock(&memory->alone);
        memory->operations.unlock(&memory->alone);
        return;
    }
    uint32_t doublings =
        tx->attempts < PAUSE_DOUBLINGS ? tx->attempts : PAUSE_DOUBLINGS;
    if (tx->client && tx->client->services->manager != MANAGE_BACKOFF)
        doublings = 0;
    tx->random = xorshift32(tx->random);
    pause_for((tx->random >> 8) % ((uint32_t)PAUSE_LEAST << doublings));
}

/* `opened`: the commit has opened the clock. */
static void finish(struct transaction *tx, bool opened)
{
    struct tx_memory *memory = tx->memory;
    tx->state = TX_OUTSIDE;
    if (unlikely(tx->client != NULL))
        services_end(tx);
    if (unlikely(tx->alone)) {
        tx->alone = false;
        if (!opened && !tx->client)
            clock_open(&memory->clock);
        memory->operations.unlock(&memory->alone);
    }
    writes_clear(tx);
    epochs_leave(tx->record, tx->outermost);
}

static void note_commit(struct transaction *tx)
{
    tx->counts.committed++;
    tx->counts.committed_alone += tx->alone;
    if (unlikely(tx->attempts > tx->counts.most_retries))
        tx->counts.most_retries = tx->attempts;
}

int tx_commit(struct transaction *tx)
{
    int result = tx->state;
    if (unlikely(result == TX_OUTSIDE))
        return TX_OUTSIDE;
    bool writes = tx->write_count != 0 && result == TX_OK;
    if (unlikely(tx->client != NULL))
        result = result == TX_OK ? services_commit(tx) : result;
    else if (writes)
        result = commit_writes(tx);
    if (likely(result == TX_OK))
        note_commit(tx);
    finish(tx, writes);
    tx->attempts = result == TX_AGAIN ? tx->attempts + 1 : 0;
    if (unlikely(result != TX_OK))
        blocks_give_back(tx);
    else if (unlikely(tx->freed_count || tx->taken))
        blocks_retire(tx);
    return result;
}

int tx_abort(struct transaction *tx)
{
    if (unlikely(tx->state == TX_OUTSIDE))
        return TX_OUTSIDE;
    if (tx->state == TX_OK)
        tx->counts.by_program++;
    finish(tx, false);
    tx->attempts = 0;
    blocks_give_back(tx);
    return TX_OK;
}
