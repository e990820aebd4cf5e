/* SPDX-License-Identifier: MIT */
/*
 * Counts of elided sections. Each thread counts in a record of its own, outside
 * transactions, so counting does not abort a transaction and is not rolled back.
 *
 * C1. begins = commits + aborts, summed over the causes, when no transaction is open.
 * C2. commits = the sum of committed_after[], and of levels[].
 */
#ifndef HASP_ELISION_COUNTS_H
#define HASP_ELISION_COUNTS_H

#include "elision/policy.h"

enum { ELISION_ATTEMPTS = 8, ELISION_LEVELS = 16 /* ELISION_LOCKS */ };

struct elision_counts {
    uint64_t begins, commits; /* of outermost transactions */
    uint64_t aborts[ELISION_CAUSES];
    uint64_t nested_aborts;                     /* in an inner section, any cause */
    uint64_t committed_after[ELISION_ATTEMPTS]; /* that many aborts; last: or more */
    uint64_t levels[ELISION_LEVELS]; /* commits by depth, from 1 */
    uint64_t elided;                 /* sections, inner ones included */
    uint64_t acquired;               /* locks that were not elided */
    uint64_t skipped;                /* of these, after earlier aborts (P2, P4) */
    uint64_t guarded;                /* of these, inside a lock whose elision failed */
    uint64_t busy;                   /* of these, because they did not become free */
    uint64_t fallbacks;              /* of these, after attempts, if timed */
    uint64_t wait_ticks, abort_ticks, commit_ticks, fallback_ticks; /* account.h */
    uint64_t spent_ticks;
};

enum { ELISION_COUNTS = sizeof(struct elision_counts) / sizeof(uint64_t) };

/* Returns a record for the calling thread. */
struct elision_counts *elision_counts_claim(void);

/* Called when the thread that claimed the record ends. The counts remain, and another
 * thread may claim the record and continue them. */
void elision_counts_release(struct elision_counts *counts);

/* Adds a claimed record's counts to its thread's sum, and sets them to 0. */
void elision_counts_keep(struct elision_counts *counts);

/* Returns the sum over all threads. */
struct elision_counts elision_counts_sum(void);

static inline uint64_t elision_aborts(const struct elision_counts *counts)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ELISION_CAUSES; i++)
        sum += counts->aborts[i];
    return sum;
}

#endif
