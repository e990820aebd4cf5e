/* SPDX-License-Identifier: MIT */
/*
 * Waiting policies: how a thread waits on a cell, and how it is granted.
 *
 *   SPIN            pauses until it is granted. If that takes far longer than a
 *                   handover between running threads, it occasionally yields its CPU,
 *                   which the holder may need
 *   SPIN_PREFETCH   SPIN that also prefetches the line of the cell in a writable state,
 *                   so that a handover transfers it once instead of twice (David,
 *                   Guerraoui, Trigonakis, "Everything you always wanted to know about
 *                   synchronization but were afraid to ask", SOSP 2013)
 *   SPIN_THEN_PARK  spins for as long as parking would cost, then sleeps
 *
 * Policies are constants at every call, so each lock compiles to exactly one of them.
 */
#ifndef HASP_LOCKS_WAITING_POLICIES_H
#define HASP_LOCKS_WAITING_POLICIES_H

#include "locks/waiting/waiter.h"

enum waiting { SPIN, SPIN_PREFETCH, SPIN_THEN_PARK };

static inline bool may_park(enum waiting waiting)
{
    return waiting == SPIN_THEN_PARK;
}

static inline struct deadline deadline_after_by(clockid_t clock, uint64_t ns)
{
    uint64_t at = clock_ns(clock) + ns;
    struct deadline deadline = {clock, {0, 0}};
    deadline.at.tv_sec = (time_t)(at / 1000000000u);
    deadline.at.tv_nsec = (long)(at % 1000000000u);
    return deadline;
}

static inline struct deadline deadline_after(uint64_t ns)
{
    return deadline_after_by(CLOCK_MONOTONIC, ns);
}

/* Progress of one spinning waiter towards its next yield and its next clock read. */
struct spinner {
    uint32_t since_clock, since_yield; /* in spins */
};

/* Returns the number of spins, at most `most`, until the waiter yields or reads the
 * clock. */
static inline uint32_t spinner_rest(const struct spinner *spinner, uint32_t most,
                                    const struct deadline *deadline)
{
    uint32_t rest = yield_limit() + 1 - spinner->since_yield;
    if (deadline && CLOCK_SPINS - spinner->since_clock < rest)
        rest = CLOCK_SPINS - spinner->since_clock;
    return rest < most ? rest : most;
}

/* Accounts for `spins` spins; yields if due. Returns false if the deadline has
 * passed. */
static inline bool spinner_waited(struct spinner *spinner, uint32_t spins,
                                  const struct deadline *deadline)
{
    if (unlikely((spinner->since_yield += spins) > yield_limit())) {
        spinner->since_yield = 0;
        yield();
    }
    if (!deadline || (spinner->since_clock += spins) < CLOCK_SPINS)
        return true;
    spinner->since_clock = 0;
    return !deadline_passed(deadline);
}

/* Spins `spins` times, at least once; returns false if the deadline has passed. A
 * single spin may last until the awaited cell changes; in a series, only the last one
 * does. */
static inline bool spinner_spin_many(struct spinner *spinner, uint32_t spins,
                                     const struct deadline *deadline)
{
    if (spins == 1 && !deadline) {
        relax_or_yield(&spinner->since_yield);
        return true;
    }
    if (spins > 1) {
        pause_for(spins - 1);
        (void)relax_at_most(1);
    } else {
        spins = relax_at_most(spinner_rest(spinner, UINT32_MAX, deadline));
    }
    return spinner_waited(spinner, spins, deadline);
}

/* Spins once and subtracts the spins used from *left; returns false if the deadline has
 * passed. */
static inline bool spinner_spin_within(struct spinner *spinner, uint32_t *left,
                                       const struct deadline *deadline)
{
    uint32_t spins = relax_at_most(spinner_rest(spinner, *left, deadline));
    *left -= spins;
    return spinner_waited(spinner, spins, deadline);
}

static inline bool spinner_spin(struct spinner *spinner,
                                const struct deadline *deadline)
{
    return spinner_spin_many(spinner, 1, deadline);
}

/* Bounded exponential backoff: returns the current pause and doubles the next one. */
enum { BACKOFF_LEAST = 4 };

static inline uint32_t next_pause(uint32_t *pause, uint32_t limit)
{
    uint32_t spins = *pause;
    *pause = 2 * spins < limit ? 2 * spins : spins;
    return spins;
}

enum { ATTEMPT_PAUSE_MOST = 256 };

/* Pauses between two attempts to take a word, and subtracts the spins from *left, which
 * is not 0. The pauses double up to a limit, because each attempt takes the line from
 * the holder. */
static inline void pause_before_attempt(uint32_t *pause, uint32_t *left)
{
    uint32_t spins = next_pause(pause, ATTEMPT_PAUSE_MOST);
    spins = spins < *left ? spins : *left;
    *left -= spins;
    pause_for(spins - 1);
    (void)relax_at_most(1);
}

static inline bool still_waiting(uint32_t state)
{
    return state == WAITER_WAITING || state == WAITER_PARKED;
}

/* Returns whether it may pay to spin behind this waiter: its thread runs, or has been
 * granted the lock and is being woken. Parking there would repeat itself: the woken
 * thread would find this one asleep, and park when it queues again. A hint: the waiter
 * may be another thread's by now. */
static inline bool runs_soon(const struct waiter *waiter)
{
    return !load_relaxed(&waiter->asleep) ||
           !still_waiting(load_relaxed(&waiter->cell));
}

/*
 * Waits until `cell` is neither WAITING nor PARKED and returns its value (acquire:
 * pairs with the release in grant()); returns WAITING if the deadline passed first.
 * `hopeful`: the predecessor appears to be running, so spinning may pay. `asleep` is
 * set before parking.
 */
static inline uint32_t wait_for_grant(struct atomic_u32 *cell,
                                      struct atomic_u32 *asleep, enum waiting waiting,
                                      bool hopeful, const struct deadline *deadline)
{
    uint32_t state = load_acquire(cell);
    if (!still_waiting(state))
        return state;
    if (!may_park(waiting)) {
        struct spinner spinner = {0, 0};
        while (still_waiting(state)) {
            if (waiting == SPIN_PREFETCH)
                prefetch_for_write(cell);
            if (!spinner_spin(&spinner, deadline))
                return WAITER_WAITING;
            state = load_acquire(cell);
        }
        return state;
    }
    if (hopeful) {
        for (uint32_t spins = spin_limit(); spins;) {
            spins -= relax_at_most(spins);
            state = load_acquire(cell);
            if (!still_waiting(state))
                return state;
        }
    }
    store_relaxed(asleep, 1);
    state = WAITER_WAITING;
    if (!compare_exchange_relaxed(cell, &state, WAITER_PARKED) &&
        state != WAITER_PARKED)
        return load_acquire(cell);
    while ((state = load_acquire(cell)) == WAITER_PARKED)
        if (!park(cell, WAITER_PARKED, deadline))
            return still_waiting(state = load_acquire(cell)) ? WAITER_WAITING : state;
    return state;
}

/*
 * Ends a wait on a condition variable: publishes `state` (REQUEUED or WOKEN, without
 * the epoch) in the waiter's cell, and returns true if its thread may be asleep.
 * Afterwards the waiter may only be used by address: another thread may have taken it.
 */
static inline bool end_condition_stay(struct waiter *waiter, uint32_t state)
{
    exchange_release(&waiter->cell, state | waiter->epoch);
    /* Orders the exchange before the load; park() orders the sleeper's store of
     * `asleep` before its load of the cell. */
    fence_seq_cst();
    return load_relaxed(&waiter->asleep) != 0;
}

/* Ends the wait by moving the thread, if asleep, to the sleepers of a lock's word. */
static inline void move_to_sleepers(struct waiter *waiter, struct atomic_u32 *word)
{
    uint32_t moved = WAITER_REQUEUED | waiter->epoch; /* read while it is still ours */
    if (end_condition_stay(waiter, WAITER_REQUEUED))
        requeue(&waiter->cell, moved, word);
}

/*
 * Hands the lock over to the thread that waits on `cell`; touches neither the waiter
 * nor its lock after the exchange. Returns false if the waiter has LEFT; the caller
 * still holds the lock then. `granted` is GRANTED or HANDED_OVER. If `may_change` is
 * false, the waiter spins without a deadline, so a store is sufficient.
 */
static inline bool grant_as(struct atomic_u32 *cell, enum waiter_state granted,
                            bool may_change)
{
    if (!may_change) {
        store_release(cell, granted);
        release_window();
        return true;
    }
    uint32_t was = exchange_release(cell, granted);
    release_window();
    if (was == WAITER_PARKED)
        unpark(cell, 1);
    return was != WAITER_LEFT;
}

static inline bool grant(struct atomic_u32 *cell, bool may_change)
{
    return grant_as(cell, WAITER_GRANTED, may_change);
}

/* Marks the cell of a timed-out waiter as LEFT; returns false if it was granted
 * first. */
static inline bool leave(struct atomic_u32 *cell)
{
    uint32_t state = load_relaxed(cell);
    while (still_waiting(state))
        if (compare_exchange_release(cell, &state, WAITER_LEFT))
            return true;
    (void)load_acquire(cell); /* the exchange failed relaxed; pairs with grant() */
    return false;
}

#endif
