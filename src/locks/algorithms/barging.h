/* SPDX-License-Identifier: MIT */
/*
 * A word acquired by barging, the basis of mutexee, spinbit and the outer level of
 * malthusian. A thread that finds the word free takes it; a thread that gives up
 * spinning sleeps on it; and a sleeper that was woken in vain too often is granted it.
 *
 *   HELD        set while held
 *   SLEEPERS    threads may be asleep on the word
 *   IMPATIENT   set by one sleeper while HELD: the next release grants the lock to it
 *   GRANTED     with HELD, after such a release: held on behalf of that sleeper
 *   SPINNER...  the number of spinning threads
 *
 * B1. HELD is set by a compare-and-exchange (acquire) of the new holder and cleared by
 *     that of the holder (release), or stays set through a grant (release) that the
 *     impatient thread takes by a compare-and-exchange (acquire). These pair.
 * B2. A thread sleeps only if it saw HELD and SLEEPERS set in one value of the word. A
 *     release that clears SLEEPERS wakes one thread, which either takes the lock, or
 *     sleeps again with SLEEPERS set, because others may be asleep.
 * B3. A release that skips the wake-up saw a spinner in the same value. A spinner stops
 *     counting as one only by an exchange that either takes the free lock or sees HELD,
 *     so there is always a thread left whose release wakes the sleepers.
 * B4. IMPATIENT and GRANTED refer to the one thread that set IMPATIENT, which it does
 *     only if it is not set. That thread exists as long as they are set: it clears
 *     IMPATIENT before it gives up, and if GRANTED came first, it does not give up.
 */
#ifndef HASP_LOCKS_ALGORITHMS_BARGING_H
#define HASP_LOCKS_ALGORITHMS_BARGING_H

#include "locks/waiting/policies.h"

enum {
    BARGING_HELD = 1,
    BARGING_SLEEPERS = 2,
    BARGING_IMPATIENT = 4,
    BARGING_GRANTED = 8,
    BARGING_SPINNER = 16,
};

/* Number of times that a spinner reads the word during its spin. Each read takes the
 * word's line from the threads that acquire and release, and a spinner that finds it
 * free starts to alternate with them, which is far slower than a single thread. So a
 * spinner must not read too often; nor so rarely that threads which only use trylock
 * starve it. */
enum { BARGING_READS = 64 };

/* After a fork, before any thread of the child waits: threads that spin, are impatient
 * or were granted the word belong to the parent. A live holder may come and go
 * meanwhile; the exchange continues its release and publishes nothing itself. */
static inline void barging_forget(struct atomic_u32 *word)
{
    uint32_t seen = load_relaxed(word), after;
    do
        after = seen & BARGING_GRANTED ? 0 : seen & (BARGING_HELD | BARGING_SLEEPERS);
    while (after != seen && !compare_exchange_relaxed(word, &seen, after));
}

static inline bool barging_fast(struct atomic_u32 *word)
{
    return acquire_if(word, 0, BARGING_HELD);
}

static inline bool barging_trylock(struct atomic_u32 *word)
{
    uint32_t seen = load_relaxed(word);
    if (seen == 0 && barging_fast(word))
        return true;
    while (!(seen & BARGING_HELD))
        if (compare_exchange_acquire(word, &seen, seen | BARGING_HELD))
            return true;
    return false;
}

/* Spins at the word, and counts itself there. Returns true once it has acquired the
 * lock, and false at once if `most` others spin already. `slept`: BARGING_SLEEPERS
 * after a sleep (B2), otherwise 0. */
static inline bool barging_spin(struct atomic_u32 *word, uint32_t most, uint32_t slept)
{
    uint32_t seen = load_relaxed(word);
    while (true) {
        bool held = seen & BARGING_HELD;
        if (held && seen / BARGING_SPINNER >= most)
            return false;
        uint32_t after = held ? seen + BARGING_SPINNER : seen | BARGING_HELD | slept;
        if (!compare_exchange_acquire(word, &seen, after))
            continue;
        if (!held)
            return true;
        break;
    }
    const uint32_t between = spin_limit() / BARGING_READS;
    for (uint32_t spins = spin_limit(); spins;) {
        uint32_t pause = spins > between ? between : spins - 1;
        pause_for(pause);
        spins -= pause;
        spins -= relax_at_most(spins);
        seen = load_relaxed(word);
        while (!(seen & BARGING_HELD))
            if (compare_exchange_acquire(
                    word, &seen, (seen - BARGING_SPINNER) | BARGING_HELD | slept))
                return true;
    }
    while (true) {
        bool held = seen & BARGING_HELD;
        uint32_t after =
            (seen - BARGING_SPINNER) | (held ? BARGING_SLEEPERS : BARGING_HELD | slept);
        if (compare_exchange_acquire(word, &seen, after))
            return !held;
    }
}

/* Called when the impatient thread gives up. Returns false if it was granted the lock
 * first. */
static inline bool barging_calm_down(struct atomic_u32 *word)
{
    uint32_t seen = load_relaxed(word);
    while (!(seen & BARGING_GRANTED))
        if (compare_exchange_relaxed(word, &seen, seen & ~(uint32_t)BARGING_IMPATIENT))
            return true;
    return false;
}

/* Waits for the lock until it has it, asleep or (SPIN) awake but not counted. The
 * thread becomes impatient after it has been passed over `patience` times: woken to
 * find the lock taken again, or one spin. Once woken, it spins if fewer than `most`
 * others do. */
static inline bool barging_wait(struct atomic_u32 *word, enum waiting waiting,
                                uint32_t most, uint32_t patience,
                                const struct deadline *deadline)
{
    const uint32_t taken =
        waiting == SPIN ? BARGING_HELD : BARGING_HELD | BARGING_SLEEPERS;
    struct spinner spinner = {0, 0};
    uint32_t seen = load_relaxed(word), passed_over = 0;
    bool impatient = false;
    while (true) {
        if (impatient && (seen & BARGING_GRANTED)) {
            const uint32_t mine = BARGING_IMPATIENT | BARGING_GRANTED;
            if (compare_exchange_acquire(word, &seen, seen & ~mine))
                return true;
            continue;
        }
        bool held = seen & BARGING_HELD;
        bool claim = held && passed_over >= patience && !(seen & BARGING_IMPATIENT);
        uint32_t wanted = seen | taken | (claim ? BARGING_IMPATIENT : 0);
        if (seen != wanted) {
            if (!compare_exchange_acquire(word, &seen, wanted))
                continue;
            if (!held)
                return true;
            impatient |= claim;
        }
        bool in_time = waiting == SPIN ? spinner_spin(&spinner, deadline)
                                       : park(word, wanted, deadline);
        if (!in_time && (!impatient || barging_calm_down(word)))
            return false;
        passed_over += passed_over < patience;
        if (most && !impatient && barging_spin(word, most, BARGING_SLEEPERS))
            return true;
        seen = load_relaxed(word);
    }
}

/* Releases the word. `insist`: wakes a sleeper even if there are spinners. */
static inline void barging_release(struct atomic_u32 *word, enum waiting waiting,
                                   bool insist)
{
    uint32_t seen = load_relaxed(word), after, wake;
    do {
        wake = seen & BARGING_SLEEPERS ? 1 : 0;
        if (seen & BARGING_IMPATIENT) {
            after = seen | BARGING_GRANTED;
            wake = UINT32_MAX >> 1; /* the word does not show which one: wake all */
        } else if (seen >= BARGING_SPINNER) {
            after = seen & ~(uint32_t)BARGING_HELD; /* SLEEPERS is kept */
            wake = insist ? wake : 0;
        } else {
            after = 0;
        }
    } while (!compare_exchange_release(word, &seen, after));
    release_window();
    if (waiting != SPIN && wake)
        unpark(word, wake);
}

/* The holder moves a thread that sleeps on a condition variable to the word's
 * sleepers. */
static inline void barging_adopt(struct atomic_u32 *word, struct waiter *waiter)
{
    fetch_or_relaxed(word, BARGING_SLEEPERS);
    move_to_sleepers(waiter, word);
}

#endif
