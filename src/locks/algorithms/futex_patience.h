/* SPDX-License-Identifier: MIT */
/*
 * How soon the spinning waiter of futex.h tries to take the lock, by measurement.
 *
 *   eager    its first attempt comes at once, and its pauses grow
 *   patient  it pauses for as long as some dozens of short sections take, before each
 *            attempt
 *
 * Holders that had to wait measure which way serves the lock better
 * (waiting/patience.h).
 *
 *   state[0]  1: a waiter spins; FUTEX_PAUSES added to the time: a patient one does,
 *             and began to pause then; FUTEX_KEPT added to the time: the place of the
 *             waiter that spins was kept for a sleeper then (futex_spin.h)
 *   state[1]  acquisitions in this epoch, once the bias has ended
 *   state[2]  start of the epoch, in ns; before, the thread that waited
 *   state[3]  a struct patience_record
 *
 * The last three are accessed by holders only, except that waiters read state[3].
 * Nothing in the cells matters for exclusion or progress.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FUTEX_PATIENCE_H
#define HASP_LOCKS_ALGORITHMS_FUTEX_PATIENCE_H

#include "locks/waiting/patience.h"
#include "locks/waiting/waited_for.h"

enum {
    FUTEX_ATTEMPTS = HANDOVER_LIMIT / 32 + 1, /* of a patient waiter */
    FUTEX_PAUSE_MOST = 64, /* in 1024 ns: longer than a patient waiter pauses */
    FUTEX_KEPT_MOST = 1 << 17, /* the same: longer than sleepers need to be woken in
                                * turn */
    FUTEX_USED = 64, /* acquisitions in an epoch that make patience worthwhile */
};

/* What a mark in state[0] says, beside a time in 1024 ns. */
enum { FUTEX_PAUSES = 2, FUTEX_KEPT = 3, FUTEX_MARKS = 3 };

union futex_record_cell {
    struct patience_record record;
    uint32_t cell;
};

static inline struct patience_record futex_record_of(struct lock *lock)
{
    return (union futex_record_cell){.cell = load_relaxed(&lock->state[3])}.record;
}

static inline void futex_record_keep(struct lock *lock, struct patience_record record)
{
    store_relaxed(&lock->state[3], (union futex_record_cell){.record = record}.cell);
}

/* Every second waiter of the model checker is. */
static inline bool futex_is_patient(struct lock *lock)
{
    return HANDOVER_LIMIT == 1 ? current_thread() % 2 : futex_record_of(lock).patient;
}

/* Whether the next patient waiter may spare the holder waking a sleeper. */
static inline bool futex_may_relieve(struct lock *lock)
{
    return HANDOVER_LIMIT == 1 || futex_record_of(lock).waits != 0;
}

static inline uint32_t futex_mark(uint32_t kind)
{
    return HANDOVER_LIMIT == 1 ? 1 : (uint32_t)(now_ns() >> 10 & ~3u) | kind;
}

/* Returns what a waiter writes to state[0] while it spins. */
static inline uint32_t futex_spin_mark(bool patient)
{
    return patient ? futex_mark(FUTEX_PAUSES) : 1;
}

/* Returns whether the waiter with this mark spins, or its place is kept for a sleeper,
 * as far as can be told: one that has paused for far too long is waiting for a CPU. */
static inline bool futex_spins(uint32_t mark)
{
    uint32_t kind = mark & FUTEX_MARKS;
    uint32_t most = kind == FUTEX_KEPT ? FUTEX_KEPT_MOST : FUTEX_PAUSE_MOST;
    return mark > 1 ? futex_mark(kind) - mark < most : mark;
}

/* The holder is about to release the lock, which is not biased. */
static inline void futex_count_use(struct lock *lock)
{
    if (HANDOVER_LIMIT > 1)
        store_relaxed(&lock->state[1], load_relaxed(&lock->state[1]) + 1);
}

/* The caller has acquired the lock by trylock. */
static inline void futex_count_try(struct lock *lock)
{
    if (HANDOVER_LIMIT > 1 && !waited_for(lock))
        store_relaxed(&lock->state[1], load_relaxed(&lock->state[1]) - 1);
}

static __attribute__((noinline, unused)) void futex_look(struct lock *lock,
                                                         struct patience_record *record)
{
    uint32_t now = (uint32_t)now_ns();
    uint32_t elapsed = now - load_relaxed(&lock->state[2]);
    if (!patience_look(record, elapsed, load_relaxed(&lock->state[1]), FUTEX_USED))
        return;
    store_relaxed(&lock->state[1], 0);
    store_relaxed(&lock->state[2], now);
}

/* The lock is biased, so its uses are not counted. Returns whether several threads wait
 * for it: with a single one that waits beside threads that try, the bias is worth
 * keeping. */
static inline bool futex_waiters_differ(struct lock *lock)
{
    uint32_t self = current_thread(), last = load_relaxed(&lock->state[2]);
    store_relaxed(&lock->state[2], self);
    return last && last != self;
}

/* Called by a holder that had to wait. Returns whether to end the bias. */
static inline bool futex_adapt(struct lock *lock, bool biased)
{
    if (HANDOVER_LIMIT == 1)
        return false;
    struct patience_record record = futex_record_of(lock);
    bool due = ++record.waits == 0, end = false;
    if (due && biased)
        end = futex_waiters_differ(lock);
    else if (due || record.trial)
        futex_look(lock, &record);
    record.waits += due; /* an odd period: two threads may wait in turn */
    futex_record_keep(lock, record);
    return end;
}

#endif
