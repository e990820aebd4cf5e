/* SPDX-License-Identifier: MIT */
/*
 * Handover of the body: a release that hands the lock to a waiter leaves `word` as it
 * is, and the waiter neither reads nor writes `word` and `owner` unless it finds the
 * word 0. Otherwise both threads would write the line of the lock, which other threads
 * watch or exchange, once more for each handover. Used by algorithms with HANDED_WORD
 * (locks.def).
 *
 * H1. The word is left only to a waiter that cannot give up, because such a waiter
 *     could leave behind a free lock whose word is not 0. A thread with a deadline sets
 *     `mode` before it queues (release), a holder that finds a thread queued (acquire)
 *     reads it, and no thread clears it.
 * H2. It is not left for kinds whose owner is checked: recursive and errorcheck.
 * H3. A lock that was handed to a thread of the parent counts as held in a forked
 *     child, whether or not that thread had run in between.
 */
#ifndef HASP_LOCKS_MEMORY_HANDED_BODY_H
#define HASP_LOCKS_MEMORY_HANDED_BODY_H

#include "locks/memory/shown_word.h"

/* Before a thread with a deadline queues. */
static inline void handed_body_expect_leavers(struct lock *lock)
{
    if (!load_relaxed(&lock->mode))
        store_relaxed(&lock->mode, 1);
}

/* Before a release. `queued`: the caller has found a thread queued (acquire). */
static inline __attribute__((always_inline)) void handed_body_release(struct lock *lock,
                                                                      bool queued)
{
    if (likely(!queued) || load_relaxed(&lock->mode) || shown_word_needs_owner(lock))
        store_relaxed(&lock->word, 0);
    else if (load_relaxed(&lock->owner) != OWNER_IN_NODE)
        store_relaxed(&lock->owner, OWNER_IN_NODE); /* until no thread is queued */
}

/* After a wait: returns whether the lock came with its word. The previous release, with
 * which the wait ended, orders the load. */
static inline bool handed_body_came(struct lock *lock)
{
    return load_relaxed(&lock->word) == 2;
}

#endif
