/* SPDX-License-Identifier: MIT */
/*
 * Abandoned nodes: waiters of timed-out threads in queues from which only a holder can
 * unlink them (mcs.h, its derivatives, and reciprocating.h).
 *
 * While a lock is held, no thread unlinks them, and each occupies a waiter. They are
 * therefore counted, in cells that locks share by a hash of their address. When a cell
 * shows that there are many, a timed thread does not queue but retries its trylock
 * until a release has unlinked some.
 *
 * Proof of the bound, ABANDONED_MOST nodes per cell plus one per thread: a node is
 * counted before it is abandoned, and until its waiter is given back. A timed thread
 * queues only after it has read a count below the limit, and it has to read it again
 * before it queues the next time; threads without a deadline abandon nothing. Proof
 * that space becomes available: a holder gives back every abandoned node before the
 * next waiter, and frees the lock only if no queue is left. So a release either frees
 * the lock, or gives back the nodes before the next waiter, and each of the waiters
 * eventually releases.
 *
 * A count carries the fork generation: nodes in the parent's queues disappeared with
 * its threads (fork_repair.h).
 */
#ifndef HASP_LOCKS_WAITING_ABANDONED_NODES_H
#define HASP_LOCKS_WAITING_ABANDONED_NODES_H

#include "locks/waiting/policies.h"

enum {
    ABANDONED_CELLS = 256,
    ABANDONED_MOST = MODEL_CHECKED ? 1 : 128,
    ABANDONED_NAP_NS = 100000, /* between two attempts of a thread that may sleep */
    ABANDONED_COUNT = 0xffff,  /* bits of a cell; the generation is above them */
};

extern struct atomic_u32 abandoned_cells[ABANDONED_CELLS]
    __attribute__((visibility("hidden")));

static inline struct atomic_u32 *abandoned_cell(const struct lock *lock)
{
    uintptr_t address = (uintptr_t)lock;
    return &abandoned_cells[(address >> 3 ^ address >> 11) % ABANDONED_CELLS];
}

static inline uint32_t abandoned_in(uint32_t cell)
{
    bool mine = cell >> 16 == (fork_generation() & ABANDONED_COUNT);
    return mine ? cell & ABANDONED_COUNT : 0;
}

static inline void abandoned_count(const struct lock *lock, int change)
{
    struct atomic_u32 *cell = abandoned_cell(lock);
    uint32_t seen = load_relaxed(cell), after;
    do {
        after = abandoned_in(seen);
        after += change > 0 || after ? (uint32_t)change : 0; /* ignore nodes of a
                                                              * parent */
        after |= fork_generation() << 16;
    } while (!compare_exchange_relaxed(cell, &seen, after));
}

/* Abandons the node of a timed-out waiter of `lock`, which a holder will unlink later;
 * returns false if it was granted first. */
static __attribute__((noinline, unused)) bool abandon(const struct lock *lock,
                                                      struct waiter *self)
{
    abandoned_count(lock, 1);
    if (leave(&self->cell))
        return true;
    abandoned_count(lock, -1);
    return false;
}

/* Called by the holder after it has unlinked an abandoned node: gives its waiter
 * back. */
static __attribute__((noinline, unused)) void give_abandoned(const struct lock *lock,
                                                             struct waiter *waiter)
{
    abandoned_count(lock, -1);
    waiter_give(waiter);
}

enum queue_space { QUEUE_HAS_SPACE, QUEUE_TIMED_OUT, QUEUE_ACQUIRED };

static __attribute__((noinline, unused)) enum queue_space
await_queue_space_slowly(struct lock *lock, bool (*trylock)(struct lock *),
                         enum waiting waiting, const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    struct atomic_u32 *cell = abandoned_cell(lock);
    uint32_t seen;
    while (abandoned_in(seen = load_relaxed(cell)) >= ABANDONED_MOST) {
        if (trylock(lock))
            return QUEUE_ACQUIRED;
        if (!spinner_spin(&spinner, deadline))
            return QUEUE_TIMED_OUT;
        if (may_park(waiting)) {
            struct deadline nap = deadline_after(ABANDONED_NAP_NS);
            park(cell, seen, &nap); /* no thread wakes it */
            if (deadline_passed(deadline))
                return QUEUE_TIMED_OUT;
        }
    }
    return QUEUE_HAS_SPACE;
}

/* Called before a thread queues: waits until the queue has space for a thread with a
 * deadline. Returns QUEUE_TIMED_OUT if the deadline passed first, QUEUE_ACQUIRED if
 * `trylock` acquired the lock meanwhile. */
static inline enum queue_space await_queue_space(struct lock *lock,
                                                 bool (*trylock)(struct lock *),
                                                 enum waiting waiting,
                                                 const struct deadline *deadline)
{
    return deadline ? await_queue_space_slowly(lock, trylock, waiting, deadline)
                    : QUEUE_HAS_SPACE;
}

#endif
