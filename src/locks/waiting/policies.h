/* SPDX-License-Identifier: MIT */
/*
 * Waiting policies: how a thread waits on a cell, and how it is told.
 *
 *   SPIN            pauses until its turn; when that takes far longer than a hand-over
 *                   between running threads, it offers its CPU now and then (the holder
 *                   may need it)
 *   SPIN_PREFETCH   SPIN that asks for the waited cell's line in a writable state, so
 *                   that it need not change hands twice for a hand-over (David,
 *                   Guerraoui, Trigonakis, "Everything you always wanted to know
 *                   about synchronization but were afraid to ask", SOSP 2013)
 *   SPIN_THEN_PARK  spins for as long as parking would cost, then sleeps
 *
 * Policies are constants at every call, so each lock compiles to one of them.
 */
#ifndef HASP_LOCKS_WAITING_POLICIES_H
#define HASP_LOCKS_WAITING_POLICIES_H

#include "locks/waiting/waiter.h"

enum waiting { SPIN, SPIN_PREFETCH, SPIN_THEN_PARK };

static inline bool may_park(enum waiting waiting)
{
    return waiting == SPIN_THEN_PARK;
}

static inline struct deadline deadline_after(uint64_t ns)
{
    uint64_t at = now_ns() + ns;
    struct deadline deadline = {CLOCK_MONOTONIC, {0, 0}};
    deadline.at.tv_sec = (time_t)(at / 1000000000u);
    deadline.at.tv_nsec = (long)(at % 1000000000u);
    return deadline;
}

/* One spinning waiter's patience. */
struct spinner {
    uint32_t since_clock, since_yield; /* turns */
};

/* How many turns, `most` at most, there are until it looks at the clock or yields. */
static inline uint32_t spinner_rest(const struct spinner *spinner, uint32_t most,
                                    const struct deadline *deadline)
{
    uint32_t rest = yield_limit() + 1 - spinner->since_yield;
    if (deadline && CLOCK_SPINS - spinner->since_clock < rest)
        rest = CLOCK_SPINS - spinner->since_clock;
    return rest < most ? rest : most;
}

/* Has waited so many turns; false when the deadline has passed. */
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

/* Waits `turns` turns, at least 1; false when the deadline has passed. One turn may
 * last until something changes; of several, none looks before the last. */
static inline bool spinner_spin_many(struct spinner *spinner, uint32_t spins,
                                     const struct deadline *deadline)
{
    if (spins > 1) {
        pause_for(spins - 1);
        (void)relax_at_most(1);
    } else {
        spins = relax_at_most(spinner_rest(spinner, UINT32_MAX, deadline));
    }
    return spinner_waited(spinner, spins, deadline);
}

/* Waits one turn of those that are left, and takes it off. */
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

/* Bounded exponential backoff: the first pause, and the next one. */
enum { BACKOFF_LEAST = 4 };

static inline uint32_t next_pause(uint32_t *pause, uint32_t limit)
{
    uint32_t spins = *pause;
    *pause = 2 * spins < limit ? 2 * spins : spins;
    return spins;
}

static inline bool still_waiting(uint32_t state)
{
    return state == WAITER_WAITING || state == WAITER_PARKED;
}

/*
 * Waits until `cell` is neither WAITING nor PARKED and returns its value (acquire:
 * pairs with the release in grant()); WAITING when the deadline passed first.
 * `hopeful`: the predecessor seems to be running, so that spinning may pay. `asleep` is
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
 * Ends a stay on a condition variable: publishes `state` (REQUEUED or WOKEN, without
 * the epoch) in the waiter's cell, and tells whether its thread may be asleep. The
 * waiter must not be used afterwards but by address: it may be somebody else's already.
 */
static inline bool end_condition_stay(struct waiter *waiter, uint32_t state)
{
    exchange_release(&waiter->cell, state | waiter->epoch);
    /* Orders the exchange before the load; park() orders the sleeper's store of
     * `asleep` before its look at the cell. */
    fence_seq_cst();
    return load_relaxed(&waiter->asleep) != 0;
}

/* Ends the stay by moving the thread, if asleep, to the sleepers of a lock's word. */
static inline void move_to_sleepers(struct waiter *waiter, struct atomic_u32 *word)
{
    uint32_t moved = WAITER_REQUEUED | waiter->epoch; /* read while it is ours */
    if (end_condition_stay(waiter, WAITER_REQUEUED))
        requeue(&waiter->cell, moved, word);
}

/*
 * Gives the turn to whoever waits on `cell`; nothing of the waiter or its lock is
 * touched after the exchange. False: the waiter has LEFT, and the turn is still the
 * caller's. `may_change` false promises that the waiter spins without a deadline: then
 * a store is enough.
 */
static inline bool grant(struct atomic_u32 *cell, bool may_change)
{
    if (!may_change) {
        store_release(cell, WAITER_GRANTED);
        release_window();
        return true;
    }
    uint32_t was = exchange_release(cell, WAITER_GRANTED);
    release_window();
    if (was == WAITER_PARKED)
        unpark(cell, 1);
    return was != WAITER_LEFT;
}

/* A timed-out waiter gives up its own cell; false when its turn came first. */
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
