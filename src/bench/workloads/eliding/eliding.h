/* SPDX-License-Identifier: MIT */
/*
 * Elided locks for workloads, on platforms that have transactions and no choice of
 * them; without/eliding.h is for the others. The include path picks one of the two.
 */
#ifndef HASP_BENCH_WORKLOADS_ELIDING_H
#define HASP_BENCH_WORKLOADS_ELIDING_H

#include "bench/workloads/transactions.h"
#include "elision/elide.h"
#include "elision/list.h"
#include "elision/thread.h"
#include "platform/htm.h"
#include "platform/platform.h"

static inline int eliding_find(const char *name)
{
    return elided_find(name);
}

/* Returns whether the machine can run the lock. */
static inline bool eliding_can(int index)
{
    return !is_elided((unsigned)index) || htm_offered();
}

static inline const struct lock_operations *eliding_operations(int index)
{
    return elided_operations_at((unsigned)index);
}

static inline const char *eliding_name(int index)
{
    return elided_at((unsigned)index).name;
}

/* Returns whether `hasp run` measures the cost of parking for the lock. */
static inline bool eliding_is_calibrated(int index)
{
    return is_elided((unsigned)index) || lock_may_park(lock_at((unsigned)index));
}

/* Sets what a trylock does inside an elided section, and the levels of transactions. */
static inline void eliding_set(bool trylock_nests, unsigned nesting)
{
    elision_settings.trylock_nests = trylock_nests;
    if (nesting)
        elision_settings.nesting = nesting;
}

/* Returns whether the caller is in a transaction. */
static inline bool eliding_now(void)
{
    return htm_depth() > 0;
}

/* Aborts the caller's transaction, as a system call does. */
static inline void eliding_forbid(void)
{
    if (eliding_now())
        yield();
}

/* Returns the transactions of the calling thread so far. */
static inline void eliding_seen(struct transactions *seen)
{
    const struct elision_counts *counts = elision_thread()->counts;
    *seen = (struct transactions){.begun = 0};
    if (!counts)
        return;
    const uint64_t *aborts = counts->aborts;
    seen->begun = counts->begins;
    seen->ended[ENDED_COMMITTED] = counts->commits;
    seen->ended[ENDED_CONFLICT] = aborts[ELISION_BY_CONFLICT];
    seen->ended[ENDED_CAPACITY] = aborts[ELISION_BY_CAPACITY];
    seen->ended[ENDED_BUSY] = aborts[ELISION_BY_BUSY];
    seen->ended[ENDED_TRYLOCK] = aborts[ELISION_BY_TRYLOCK];
    seen->ended[ENDED_OTHER] = counts->begins - counts->commits;
    for (unsigned i = ENDED_CONFLICT; i < ENDED_OTHER; i++)
        seen->ended[ENDED_OTHER] -= seen->ended[i];
}

/* Adds the transactions of the calling thread since `before`. */
static inline void eliding_since(const struct transactions *before,
                                 struct transactions *sum)
{
    struct transactions now;
    eliding_seen(&now);
    sum->begun += now.begun - before->begun;
    for (unsigned i = 0; i < TRANSACTION_ENDS; i++)
        sum->ended[i] += now.ended[i] - before->ended[i];
}

#endif
