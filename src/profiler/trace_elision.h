/* SPDX-License-Identifier: MIT */
/* Elided locks in the trace. Include trace.h instead. */
#ifndef HASP_PROFILER_TRACE_ELISION_H
#define HASP_PROFILER_TRACE_ELISION_H

#include <stdint.h>

enum trace_transactions {
    TRACE_NO_TRANSACTIONS,
    TRACE_PROCESSOR_TRANSACTIONS,
    TRACE_SCRIPTED_TRANSACTIONS, /* their outcomes; each section acquires the lock */
    TRACE_UNDONE_TRANSACTIONS,   /* rolled back by software */
};

enum {
    TRACE_ELISION_CAUSES = 8,   /* conflict, capacity, busy, trylock, wait, explicit,
                                   debug, other: elision/policy.h */
    TRACE_ELISION_ATTEMPTS = 8, /* aborted before a commit, from 0; last: or more */
    TRACE_ELISION_LEVELS = 8,   /* of a commit, from 1; last: or more */
};

/* Elided sections. A transaction counts at the lock that began it. begins = commits +
 * aborts; commits = committed_after = levels; spent_ticks = the sum of the other
 * times. */
struct trace_elision {
    uint64_t begins, commits;
    uint64_t aborts[TRACE_ELISION_CAUSES]; /* by cause */
    uint64_t nested_aborts;                /* of these, in a nested section */
    uint64_t committed_after[TRACE_ELISION_ATTEMPTS];
    uint64_t levels[TRACE_ELISION_LEVELS];
    uint64_t elided; /* sections of this site's locks that committed, nested ones too */
    uint64_t skipped, guarded, busy; /* acquisitions: after earlier aborts, inside a
                                        lock whose elision failed, never free */
    uint64_t fallbacks;              /* acquisitions after attempts */
    uint64_t wait_ticks;             /* until the lock was free, before attempts */
    uint64_t abort_ticks, commit_ticks; /* in transactions */
    uint64_t fallback_ticks;            /* acquiring it after all attempts */
    uint64_t spent_ticks;
};

#endif
