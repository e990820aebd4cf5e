/* SPDX-License-Identifier: MIT */
/*
 * Reciprocating lock. D. Dice, A. Kogan, "Reciprocating locks", PPoPP 2025.
 *
 *   arrivals  0 free; EMPTY: held, and no thread has arrived since the last segment was
 *             detached; otherwise 2 + the number of the last arrival
 *   gate      of a thread: 0 while it waits; then the end of its segment, which is 2 +
 *             the thread that detached it, or EMPTY
 *   successor, end  of a thread that holds the lock: the next thread of its segment, 0
 *             if there is none, and the end of the segment
 */
#ifndef HASP_BENCH_PUBLISHED_RECIPROCATING_H
#define HASP_BENCH_PUBLISHED_RECIPROCATING_H

#include "bench/published/body.h"

enum { PUBLISHED_RECIPROCATING_EMPTY = 1 };

struct published_reciprocating_thread {
    struct atomic_u32 gate;
    uint32_t successor, end; /* on the thread's stack */
} PUBLISHED_ALONE;

static inline struct published_reciprocating_thread *
published_reciprocating_threads(struct lock *lock)
{
    return published_body(lock,
                          published_threads() *
                              sizeof(struct published_reciprocating_thread));
}

static inline void published_reciprocating_lock(struct lock *lock)
{
    uint32_t self = published_thread() + 2;
    struct published_reciprocating_thread *mine =
        &published_reciprocating_threads(lock)[self - 2];
    mine->successor = 0;
    mine->end = self;
    store_relaxed(&mine->gate, 0);
    uint32_t tail = exchange_acq_rel(&lock->state[0], self);
    if (!tail)
        return;
    if (tail != PUBLISHED_RECIPROCATING_EMPTY)
        mine->successor = tail;
    spin_until((mine->end = load_acquire(&mine->gate)) != 0);
    if (mine->successor == mine->end) {
        mine->successor = 0;
        mine->end = PUBLISHED_RECIPROCATING_EMPTY;
    }
}

static inline void published_reciprocating_unlock(struct lock *lock)
{
    struct published_reciprocating_thread *threads =
        published_reciprocating_threads(lock);
    const struct published_reciprocating_thread *mine = &threads[published_thread()];
    uint32_t next = mine->successor;
    if (!next) {
        if (release_if(&lock->state[0], mine->end, 0))
            return;
        next = exchange_acq_rel(&lock->state[0], PUBLISHED_RECIPROCATING_EMPTY);
    }
    store_release(&threads[next - 2].gate, mine->end);
}

#endif
