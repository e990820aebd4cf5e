/* SPDX-License-Identifier: MIT */
/*
 * Abandoned places: those of timed-out waiters in queues that only a holder can take
 * them out of (mcs.h, what is made of it, and reciprocating.h).
 *
 * While a lock is held nobody takes them out, and each keeps a waiter. So they are
 * counted, in cells that locks share by their address; and where a cell says that there
 * are many, a timed thread does not queue. It tries instead, until a release has made
 * room.
 *
 * Proof: of the bound, ABANDONED_MOST places for each cell and one for each thread. A
 * place is counted before it is left, and until its waiter is given back. A timed
 * thread takes a place only after it has read a count below the most, and it has to
 * read again for the next one; threads that wait for good leave none. Proof: that room
 * comes. A holder gives back what it meets on its way to the next waiter, and leaves a
 * free lock only without a queue. So either a release frees the lock, or the places
 * before the next waiter are given back, and each of the waiters releases in its turn.
 *
 * A count carries the fork generation: those of the parent's queues are gone with its
 * threads (fork_repair.h).
 */
#ifndef HASP_LOCKS_WAITING_ABANDONED_NODES_H
#define HASP_LOCKS_WAITING_ABANDONED_NODES_H

#include "locks/waiting/policies.h"

enum {
    ABANDONED_CELLS = 256,
    ABANDONED_MOST = HANDOVER_LIMIT < 4 ? 1 : 128,
    ABANDONED_NAP_NS = 100000, /* between two tries of a thread that may sleep */
    ABANDONED_COUNT = 0xffff,  /* bits of a cell; the generation is above */
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
        after += change > 0 || after ? (uint32_t)change : 0; /* none of a parent's */
        after |= fork_generation() << 16;
    } while (!compare_exchange_relaxed(cell, &seen, after));
}

/* A timed-out waiter of `lock` abandons its place, where somebody has to find it; false
 * when its turn came first. */
static __attribute__((noinline, unused)) bool abandon(const struct lock *lock,
                                                      struct waiter *self)
{
    abandoned_count(lock, 1);
    if (leave(&self->cell))
        return true;
    abandoned_count(lock, -1);
    return false;
}

/* By the holder, who has taken that place out of the queue: its waiter is given back.
 */
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
            park(cell, seen, &nap); /* nobody wakes it */
            if (deadline_passed(deadline))
                return QUEUE_TIMED_OUT;
        }
    }
    return QUEUE_HAS_SPACE;
}

/* Before a thread queues: waits until there is room for a timed one. The deadline
 * passed first: QUEUE_TIMED_OUT; `trylock` did it meanwhile: QUEUE_ACQUIRED. */
static inline enum queue_space await_queue_space(struct lock *lock,
                                                 bool (*trylock)(struct lock *),
                                                 enum waiting waiting,
                                                 const struct deadline *deadline)
{
    return deadline ? await_queue_space_slowly(lock, trylock, waiting, deadline)
                    : QUEUE_HAS_SPACE;
}

#endif
