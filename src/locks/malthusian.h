/* SPDX-License-Identifier: MIT */
/*
 * Malthusian lock, outer-inner form (LOITER): concurrency restriction by admission. D.
 * Dice, "Malthusian locks", EuroSys 2017. Of the paper's forms this is the one with
 * competitive succession: the other, MCSCR, hands the lock to a waiter that may sleep,
 * and once all sleep every hand-over costs a wake-up.
 *
 * Idea: an outer word that running threads take by barging; who fails queues at an
 * inner MCS lock and spins or sleeps. Only the inner lock's holder, the standby,
 * competes for the word. So a few running threads circulate over the lock and the rest
 * stay away. A standby that was passed over too often becomes impatient, and the next
 * release hands it the lock.
 *
 * The inner lock as in mcs.h, then the bits of the outer word:
 *
 *   tail, next  of the inner lock
 *   HELD        by its holder
 *   SLEEPERS    somebody may sleep on the word: the standby, or threads requeued by a
 *               condvar
 *   IMPATIENT   set by the standby while HELD: release by grant
 *   GRANTED     with HELD, after such a release: the lock is the standby's
 *
 * I1. HELD is set by an acquire exchange of 0's owner-to-be, or stays set through a
 *     grant.
 * I2. Whoever slept on the word takes the lock with SLEEPERS set: others may sleep.
 * I3. IMPATIENT and GRANTED concern the one standby; it is always there when they are
 *     set, because it clears IMPATIENT before it gives up.
 */
#ifndef HASP_LOCKS_MALTHUSIAN_H
#define HASP_LOCKS_MALTHUSIAN_H

#include "locks/mcs.h"

enum {
    MALTHUSIAN_HELD = 1,
    MALTHUSIAN_SLEEPERS = 2,
    MALTHUSIAN_IMPATIENT = 4,
    MALTHUSIAN_GRANTED = 8,
};

/* How often a standby may be passed over: found the lock taken again after it was
 * woken, or for as long as so many sleeps and wake-ups would have taken. */
static inline uint32_t malthusian_patience(enum waiting waiting)
{
    return waiting == SPIN ? HANDOVER_LIMIT * spin_limit() : HANDOVER_LIMIT;
}

static inline struct atomic_u32 *malthusian_word(struct lock *lock)
{
    return &lock->state[2];
}

/* Whoever is in the inner lock is a ghost: a live thread comes through here before it
 * enters. The word may be in use by a live holder, so it is changed by exchange only.
 */
static inline void malthusian_forget(struct lock *lock, bool held)
{
    (void)held;
    store_relaxed(&mcs_of(lock)->next, 0);
    store_release(&mcs_of(lock)->tail, 0);
    struct atomic_u32 *word = malthusian_word(lock);
    uint32_t seen = load_relaxed(word), after;
    do
        after = seen & MALTHUSIAN_GRANTED ? 0 : seen & ~(uint32_t)MALTHUSIAN_IMPATIENT;
    while (!compare_exchange_acq_rel(word, &seen, after));
}

static inline void malthusian_before_release(struct lock *lock)
{
    ghosts_check_holder(lock, malthusian_forget);
}

static inline bool malthusian_fast(struct lock *lock)
{
    return acquire_if(malthusian_word(lock), 0, MALTHUSIAN_HELD);
}

static inline bool malthusian_trylock(struct lock *lock, enum waiting waiting)
{
    (void)waiting;
    return load_relaxed(malthusian_word(lock)) == 0 && malthusian_fast(lock);
}

/* Competes for the word by spinning; true when acquired. */
static inline bool malthusian_spin(struct atomic_u32 *word)
{
    for (uint32_t turns = spin_limit(); turns; turns--) {
        uint32_t seen = load_relaxed(word);
        if (!(seen & MALTHUSIAN_HELD) &&
            compare_exchange_acquire(word, &seen, seen | MALTHUSIAN_HELD))
            return true;
        relax();
    }
    return false;
}

/* Gives up being impatient; false when the lock was granted first. */
static inline bool malthusian_calm_down(struct atomic_u32 *word)
{
    uint32_t seen = load_relaxed(word);
    while (!(seen & MALTHUSIAN_GRANTED))
        if (compare_exchange_relaxed(word, &seen,
                                     seen & ~(uint32_t)MALTHUSIAN_IMPATIENT))
            return true;
    return false;
}

/* Waits at the word until it can take the lock. `patience` 0: not the standby, and
 * never impatient. */
static inline bool malthusian_stand_by(struct atomic_u32 *word, enum waiting waiting,
                                       uint32_t patience,
                                       const struct deadline *deadline)
{
    const uint32_t standby_bits = MALTHUSIAN_IMPATIENT | MALTHUSIAN_GRANTED;
    const uint32_t taken =
        waiting == SPIN ? MALTHUSIAN_HELD : MALTHUSIAN_HELD | MALTHUSIAN_SLEEPERS;
    struct spinner spinner = {0, 0};
    uint32_t seen = load_relaxed(word), waits = 0;
    while (true) {
        if (patience && (seen & MALTHUSIAN_GRANTED)) {
            /* Nobody else acts on GRANTED; others may add SLEEPERS. */
            if (compare_exchange_acquire(word, &seen, seen & ~standby_bits))
                return true;
            continue;
        }
        bool held = seen & MALTHUSIAN_HELD;
        uint32_t wanted = seen | taken;
        if (held && patience && waits >= patience)
            wanted |= MALTHUSIAN_IMPATIENT;
        if (seen != wanted) {
            if (!compare_exchange_acquire(word, &seen, wanted))
                continue;
            if (!held)
                return true;
        }
        bool in_time = waiting == SPIN ? spinner_turn(&spinner, deadline)
                                       : park(word, wanted, deadline);
        if (!in_time && (!patience || malthusian_calm_down(word)))
            return false;
        waits += waits < patience;
        seen = load_relaxed(word);
    }
}

static __attribute__((noinline, unused)) bool
malthusian_wait(struct lock *lock, enum waiting waiting,
                const struct deadline *deadline)
{
    ghosts_check(lock, malthusian_forget);
    if (!mcs_timedlock(lock, waiting, deadline))
        return false;
    struct atomic_u32 *word = malthusian_word(lock);
    bool acquired =
        (waiting != SPIN && malthusian_spin(word)) ||
        malthusian_stand_by(word, waiting, malthusian_patience(waiting), deadline);
    mcs_unlock(lock, waiting); /* the next waiter stands by */
    return acquired;
}

static inline bool malthusian_timedlock(struct lock *lock, enum waiting waiting,
                                        const struct deadline *deadline)
{
    return malthusian_fast(lock) || malthusian_wait(lock, waiting, deadline);
}

static inline void malthusian_lock(struct lock *lock, enum waiting waiting)
{
    malthusian_timedlock(lock, waiting, NULL);
}

static inline void malthusian_unlock(struct lock *lock, enum waiting waiting)
{
    struct atomic_u32 *word = malthusian_word(lock);
    if (likely(release_if(word, MALTHUSIAN_HELD, 0)))
        return;
    uint32_t seen = load_relaxed(word), after;
    do
        after = seen & MALTHUSIAN_IMPATIENT ? seen | MALTHUSIAN_GRANTED : 0;
    while (!compare_exchange_release(word, &seen, after));
    release_window();
    if (waiting == SPIN)
        return;
    /* A grant is for one of the sleepers: it does not say which, so all look. */
    if (after)
        unpark(word, UINT32_MAX >> 1);
    else if (seen & MALTHUSIAN_SLEEPERS)
        unpark(word, 1);
}

/* The holder moves a thread asleep on a condition variable to the word's sleepers. */
static inline void malthusian_adopt(struct lock *lock, struct waiter *waiter)
{
    struct atomic_u32 *word = malthusian_word(lock);
    fetch_or_relaxed(word, MALTHUSIAN_SLEEPERS);
    move_to_sleepers(waiter, word);
}

/* After malthusian_adopt: it may have slept among others. */
static inline void malthusian_relock(struct lock *lock, enum waiting waiting)
{
    malthusian_stand_by(malthusian_word(lock), waiting, 0, NULL);
}

static inline void malthusian_destroy(struct lock *lock)
{
    (void)lock;
}

#endif
