/* SPDX-License-Identifier: MIT */
/*
 * How soon the spinning waiter of futex.h tries to take the lock, by measurement.
 *
 *   eager    its first attempt comes at once, and its pauses grow
 *   patient  it pauses for as long as some dozens of short sections take, before each
 *            attempt
 *
 * An eager waiter takes a free lock early, which is best if threads have work to do
 * outside of their sections. If they return to the lock at once, it takes the lock
 * after every few sections, and each time the cache lines of the lock, and of what it
 * protects, move to another CPU. Then threads that use the lock in turn, for dozens of
 * sections each, are faster.
 *
 * Holders that had to wait compare how many acquisitions a second each way reaches. The
 * current one is measured all the time, the other one is tried now and then for an
 * epoch, or less if it is far worse. A lock that is used too rarely to gain anything
 * stays eager.
 *
 *   state[0]  when the waiter that spins began to pause, if it is patient, else 1
 *   state[1]  acquisitions in this epoch, once the bias has ended
 *   state[2]  start of the epoch, in ns; before, the thread that waited
 *   state[3]  a struct futex_record
 *
 * The last three are accessed by holders only, except that waiters read state[3].
 * Nothing in the cells matters for exclusion or progress.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FUTEX_PATIENCE_H
#define HASP_LOCKS_ALGORITHMS_FUTEX_PATIENCE_H

#include "locks/waiting/waited_for.h"

enum {
    FUTEX_ATTEMPTS = HANDOVER_LIMIT / 32 + 1, /* of a patient waiter */
    FUTEX_PAUSE_MOST = 64, /* in 1024 ns: longer than a patient waiter pauses */
    FUTEX_EPOCH_NS = 1 << 17,
    FUTEX_EPOCHS_PAUSED = 16, /* after these, the lock was idle: nothing was measured */
    FUTEX_USED = 64, /* acquisitions in an epoch that make patience worthwhile */
    FUTEX_TRIAL_LEAST = 3,    /* log2 of the epochs between two trials */
    FUTEX_TRIAL_MOST = 7,
};

struct futex_record {
    uint32_t rate : 15; /* of the way in use: acquisitions in FUTEX_EPOCH_NS */
    uint32_t patient : 1, trial : 1;
    uint32_t left : 8; /* epochs until the next trial */
    uint32_t pause : 3; /* log2 of the epochs between two trials */
    uint32_t waits : 4;
};

_Static_assert(sizeof(struct futex_record) == sizeof(uint32_t), "fills a cell");

union futex_record_cell {
    struct futex_record record;
    uint32_t cell;
};

static inline struct futex_record futex_record_of(struct lock *lock)
{
    return (union futex_record_cell){.cell = load_relaxed(&lock->state[3])}.record;
}

static inline void futex_record_keep(struct lock *lock, struct futex_record record)
{
    store_relaxed(&lock->state[3], (union futex_record_cell){.record = record}.cell);
}

/* The model checker's waiters always are. */
static inline bool futex_is_patient(struct lock *lock)
{
    return HANDOVER_LIMIT == 1 || futex_record_of(lock).patient;
}

/* Whether the next patient waiter may spare the holder waking a sleeper. */
static inline bool futex_may_relieve(struct lock *lock)
{
    return HANDOVER_LIMIT == 1 || futex_record_of(lock).waits != 0;
}

/* Returns what a waiter writes to state[0] while it spins. */
static inline uint32_t futex_spin_mark(bool patient)
{
    return patient && HANDOVER_LIMIT > 1 ? (uint32_t)(now_ns() >> 10) | 2 : 1;
}

/* Returns whether the waiter with this mark spins, as far as can be told: one that has
 * paused for far too long is waiting for a CPU. */
static inline bool futex_spins(uint32_t mark)
{
    return mark == 1 || (mark && futex_spin_mark(true) - mark < FUTEX_PAUSE_MOST);
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

/* A trial is over: is the way on trial better? */
static inline void futex_judge(struct futex_record *record, uint32_t rate)
{
    record->trial = false;
    if (rate > record->rate + record->rate / 8u) {
        record->rate = rate & 0x7fff;
        record->pause = FUTEX_TRIAL_LEAST;
    } else {
        record->patient = !record->patient;
        if (record->pause < FUTEX_TRIAL_MOST)
            record->pause++;
    }
    record->left = (1u << record->pause) & 0xff;
}

/* An epoch is over, in which the lock was acquired at this rate. */
static inline void futex_end_epoch(struct futex_record *record, uint32_t rate)
{
    if (record->trial) {
        futex_judge(record, rate);
        return;
    }
    if (record->rate)
        rate = (3 * record->rate + rate) / 4;
    record->rate = rate & 0x7fff;
    if (rate < (uint32_t)FUTEX_USED) {
        record->patient = false;
    } else if (record->left) {
        record->left--;
    } else {
        record->trial = true;
        record->patient = !record->patient;
    }
}

/* Whether the way on trial is so much worse that the trial may end early. */
static inline bool futex_is_hopeless(const struct futex_record *record, uint32_t ns,
                                     uint64_t rate)
{
    return record->trial && ns >= FUTEX_EPOCH_NS / 8u && rate < record->rate / 2u;
}

static __attribute__((noinline, unused)) void futex_look(struct lock *lock,
                                                         struct futex_record *record)
{
    uint32_t now = (uint32_t)now_ns();
    uint32_t elapsed = now - load_relaxed(&lock->state[2]);
    uint64_t uses = load_relaxed(&lock->state[1]);
    uint64_t rate = uses * FUTEX_EPOCH_NS / (elapsed | 1);
    if (elapsed < FUTEX_EPOCH_NS && !futex_is_hopeless(record, elapsed, rate))
        return;
    store_relaxed(&lock->state[1], 0);
    store_relaxed(&lock->state[2], now);
    if (elapsed < FUTEX_EPOCHS_PAUSED * FUTEX_EPOCH_NS)
        futex_end_epoch(record, rate < 0x7fff ? (uint32_t)rate : 0x7fff);
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
    struct futex_record record = futex_record_of(lock);
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
