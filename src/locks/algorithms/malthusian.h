/* SPDX-License-Identifier: MIT */
/*
 * Malthusian lock, outer-inner form (LOITER): concurrency restriction by admission. D.
 * Dice, "Malthusian locks", EuroSys 2017. Of the paper's forms this is the one with
 * competitive succession. The other, MCSCR, hands the lock to a waiter that may be
 * asleep, and once all waiters sleep, every handover costs a wake-up.
 *
 * Idea: running threads take an outer word by barging; a thread that fails queues at an
 * inner MCS lock and spins or sleeps. Only the inner lock's holder, the standby,
 * competes for the word. So a few running threads circulate through the lock and the
 * rest stay passive. A standby that was passed over too often becomes impatient, and
 * the next release grants it the lock.
 *
 * The inner lock is that of mcs.h. The bits of the outer word are those of barging.h,
 * with the invariants B1 to B4:
 *
 *   tail, next  of the inner lock
 *   HELD        set while held
 *   SLEEPERS    threads may be asleep on the word: the standby, or threads requeued by
 *               a condition variable
 *   IMPATIENT   set by the standby while HELD: the next release grants it the lock
 *   GRANTED     with HELD, after such a release: the standby holds the lock
 *
 * I1. Only the holder of the inner lock becomes impatient; threads requeued by a
 *     condition variable do not.
 *
 * The standby of malthusian-park takes a lock that threads return to at once as soon as
 * it can; the spinner of futex.h measures whether to leave it to its users. 8 threads
 * that pass such a lock on take 1.13 times (1.05 to 1.22) as long as with glibc's mutex
 * (`hasp compare --threads 8 --runs 7` on two CPUs, OCaml's counter of
 * docs/studies/advice/unseen2.toml); futex takes 0.99 times.
 */
#ifndef HASP_LOCKS_ALGORITHMS_MALTHUSIAN_H
#define HASP_LOCKS_ALGORITHMS_MALTHUSIAN_H

#include "locks/algorithms/barging.h"
#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs.h"

/* Number of times that a standby may be passed over: woken to find the lock taken again
 * or, if it spins, the time that so many sleeps and wake-ups would have taken. */
static inline uint32_t malthusian_patience(enum waiting waiting)
{
    return waiting == SPIN ? HANDOVER_LIMIT * spin_limit() : HANDOVER_LIMIT;
}

static inline struct atomic_u32 *malthusian_word(struct lock *lock)
{
    return &lock->state[2];
}

/* Every thread in the inner lock belongs to the parent, because a live thread passes
 * through here before it enters. */
static inline void malthusian_forget(struct lock *lock, bool held)
{
    (void)held;
    store_relaxed(&mcs_of(lock)->next, 0);
    store_relaxed(&mcs_of(lock)->tail, 0);
    barging_forget(malthusian_word(lock));
}

DEFAULT_BEFORE_RELEASE(malthusian)

static inline bool malthusian_fast(struct lock *lock)
{
    return barging_fast(malthusian_word(lock));
}

static inline bool malthusian_trylock(struct lock *lock, enum waiting waiting)
{
    (void)waiting;
    return barging_trylock(malthusian_word(lock));
}

/* Competes for the word by spinning; returns true once acquired. */
static inline bool malthusian_spin(struct atomic_u32 *word)
{
    for (uint32_t left = spin_limit(), pause = BACKOFF_LEAST; left;) {
        pause_before_attempt(&pause, &left);
        uint32_t seen = load_relaxed(word);
        if (!(seen & BARGING_HELD) &&
            compare_exchange_acquire(word, &seen, seen | BARGING_HELD))
            return true;
    }
    return false;
}

static __attribute__((noinline, unused)) bool
malthusian_wait(struct lock *lock, enum waiting waiting,
                const struct deadline *deadline)
{
    fork_repair_if_due(lock, malthusian_forget);
    struct waiter *node = NULL;
    if (!mcs_fast(lock) && !mcs_enter(lock, waiting, deadline, &node))
        return false;
    struct atomic_u32 *word = malthusian_word(lock);
    bool acquired =
        (waiting != SPIN && malthusian_spin(word)) ||
        barging_wait(word, waiting, 0, malthusian_patience(waiting), deadline);
    /* First, because the next waiter, the standby, watches the line from then on. */
    if (acquired)
        shown_word_set(lock, current_thread());
    mcs_leave(lock, node, false);
    return acquired;
}

static inline void malthusian_unlock(struct lock *lock, enum waiting waiting)
{
    struct atomic_u32 *word = malthusian_word(lock);
    if (unlikely(!release_if(word, BARGING_HELD, 0)))
        barging_release(word, waiting, false);
}

static inline void malthusian_adopt(struct lock *lock, struct waiter *waiter)
{
    barging_adopt(malthusian_word(lock), waiter);
}

/* After malthusian_adopt: the thread may have slept among others. */
static inline void malthusian_relock(struct lock *lock, enum waiting waiting)
{
    barging_wait(malthusian_word(lock), waiting, 0, UINT32_MAX, NULL);
}

DEFAULT_DESTROY(malthusian)

#endif
