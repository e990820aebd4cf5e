/* SPDX-License-Identifier: MIT */
/* Clients that load two words, which transactions store together. */
#ifndef HASP_EXPLORER_CLIENTS_TRANSACTION_SNAPSHOTS_H
#define HASP_EXPLORER_CLIENTS_TRANSACTION_SNAPSHOTS_H

#include "explorer/base/variables.h"
#include "explorer/clients/transaction_state.h"

/* One attempt; `first` is loaded before the other word. */
static inline void expect_same(unsigned thread, unsigned first)
{
    uint64_t one = 0, other = 0;
    struct transaction *tx = begin(thread);
    if (load(tx, first, &one) && load(tx, X + Y - first, &other))
        expect(one == other, "a transaction sees a part of another one");
    tx_commit(tx);
}

static inline void snapshot(unsigned thread)
{
    if (thread == 0)
        store_both(0, 1);
    else
        expect_same(thread, thread == 1 ? X : Y);
}

/* Both words are in one stripe. */
static inline void neighbours(unsigned thread)
{
    transactions[thread].tx.shift = NEIGHBOURS_SHIFT;
    if (thread < 2)
        store_both(thread, thread + 1);
    else
        expect_same(thread, X);
}

/* The second commit comes while a load looks at the first one. */
static inline void snapshot_of_two(unsigned thread)
{
    if (thread == 0) {
        store_both(0, 1);
        store_both(0, 2);
    } else {
        expect_same(thread, X);
    }
}

/* A transaction begins at the time of its thread's own commit. */
static inline void after_own(unsigned thread)
{
    if (thread == 0) {
        store_both(0, 1);
        store_release(&served, 1);
        return;
    }
    uint64_t x = 0, y = 0;
    add_one(thread, NODE);
    bool before = load_acquire(&served) != 0;
    struct transaction *tx = begin(thread);
    if (load(tx, X, &x) && load(tx, Y, &y)) {
        expect(x == y, "a transaction sees a part of another one");
        expect(!before || x == 1, "it does not see a commit that came before");
    }
    tx_commit(tx);
}

#endif
