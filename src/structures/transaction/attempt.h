/* SPDX-License-Identifier: MIT */
/*
 * Beginning and ending a transaction. One that conflicts have aborted as often as the
 * memory allows runs ALONE: it holds a lock of the list and closes the clock, so that
 * no other transaction commits writes until it has ended. Nothing that it has read can
 * change then, and its commit cannot fail. Its stores still wait in its write set, so
 * that the program can abort it.
 *
 * Others keep reading meanwhile. Those that want to commit give up, and wait for the
 * lock before their next attempt.
 */
#ifndef HASP_STRUCTURES_TRANSACTION_ATTEMPT_H
#define HASP_STRUCTURES_TRANSACTION_ATTEMPT_H

#include "structures/transaction/transaction.h"

/* Before another attempt: pauses, waits, or lets the transaction run alone. */
void tx_prepare_again(struct transaction *tx);

/* Returns TX_OK, or TX_NESTED. */
static inline int tx_begin(struct transaction *tx, struct epochs_record *record)
{
    if (unlikely(tx->state != TX_OUTSIDE))
        return TX_NESTED;
    tx->counts.begun++;
    if (unlikely(tx->attempts))
        tx_prepare_again(tx);
    tx->was_closed = false;
    tx->record = record;
    tx->read_count = 0;
    tx->freed_count = 0;
    tx->outermost = epochs_enter(tx->memory->epochs, record);
    if (likely(!tx->alone))
        tx->now = tx->own ? tx->own : clock_now(&tx->memory->clock);
    tx->own = 0;
    tx->state = TX_OK;
    if (unlikely(tx->client != NULL))
        services_begin(tx);
    return TX_OK;
}

/* Ends the transaction. Returns TX_OK if it has taken effect; TX_AGAIN, TX_TOO_LARGE or
 * TX_NO_MEMORY; or TX_OUTSIDE. */
int tx_commit(struct transaction *tx);

/* Ends the transaction without effect. Returns TX_OK, or TX_OUTSIDE. */
int tx_abort(struct transaction *tx);

#endif
