/* SPDX-License-Identifier: MIT */
/*
 * Scheduler-cooperative lock (u-SCL): fair shares of the time in which the lock is
 * held. Y. Patel, L. Yang, L. Arulraj, A. Arpaci-Dusseau, R. Arpaci-Dusseau, M. Swift,
 * "Avoiding scheduler subversion using scheduler-cooperative locks", EuroSys 2020.
 *
 * Idea: threads that hold a lock for long subvert a fair scheduler, because the others
 * wait and do not use their shares. So the lock measures how long each thread holds it.
 * A thread owns the lock for a slice, during which it may acquire it freely; then it is
 * banned until the others have had time to hold the lock for as long. Here slices and
 * bans are built on the two levels of malthusian.h: waiters sleep in the inner queue,
 * and the first of them, the standby, lets the slice's owner barge until the slice is
 * over, or until the owner has not returned for a while (the paper would leave the rest
 * of the slice unused). Without contention nothing is accounted and no clock is read.
 * Threads have equal weights.
 *
 *   tail, next  of the inner lock
 *   state[2]    the outer word, as in barging.h
 *   mode        1 once the lock was contended: usage is accounted
 *   state[3]    directory of side blocks: the slice, and 9 accounts in each of the
 *               others
 *   owner       of the slice: 1 + number of its account, 0 none yet
 *   holder      while held: 1 + number of the account that is charged, 0 none
 *   start       while held: start of the hold
 *   uses        number of the owner's accounted acquisitions
 *   sharers     accounts in use, counted when a slice begins
 *   nobody      always 0: naps are sleeps on it
 *   account     since: when its last slice began; used: for how long it has held the
 *               lock since; asked: when it last wanted the lock
 *
 * I1. The outer word provides mutual exclusion; slices and accounts decide which
 *     threads try to take it, and when. So all of them may be out of date, or shared by
 *     two threads whose ids have the same remainder.
 * I2. holder, start, uses and sharers are written by the holder, owner by the standby.
 * I3. A standby waits for a bounded number of naps, whatever the owner does: it may
 *     have exited. An account whose thread does not ask again is not a sharer.
 *
 * Timed lock: a standby gives up between naps; other waiters leave as in malthusian.h.
 *
 * Trylock: it takes the outer word if that is free, within the slice or not, and the
 * thread is charged for the hold.
 */
#ifndef HASP_LOCKS_ALGORITHMS_U_SCL_H
#define HASP_LOCKS_ALGORITHMS_U_SCL_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/malthusian.h"
#include "locks/algorithms/u_scl_accounts.h"

/* A slice is USCL_NAPS naps, each twice as long as the one before: about 2 ms, as in
 * the paper. */
enum { USCL_NAPS = MODEL_CHECKED ? 1 : 4, USCL_NAP_NS = 130000 };

/* Number of times that the standby checks before each nap, within the time that parking
 * costs, whether the owner has left the lock alone since the previous check. */
enum { USCL_CHECKS = MODEL_CHECKED ? 1 : 8 };

static inline void u_scl_before_release(struct lock *lock)
{
    malthusian_before_release(lock);
}

/* Sleeps for `ns` nanoseconds or until the deadline; returns false if that has
 * passed. */
static inline bool u_scl_nap(struct lock *lock, uint64_t ns,
                             const struct deadline *deadline)
{
    struct deadline end = deadline_after(ns);
    park(&u_scl_of(lock)->nobody, 0, &end);
    return !deadline || !deadline_passed(deadline);
}

/* Waits for the end of the ban; returns false if the deadline has passed. */
static inline bool u_scl_stay_away(struct lock *lock,
                                   const struct u_scl_account *account,
                                   const struct deadline *deadline)
{
    uint64_t ns = u_scl_ban(lock, account);
    while (ns) {
        uint64_t nap = deadline && ns > USCL_NAP_NS ? USCL_NAP_NS : ns;
        if (!u_scl_nap(lock, nap, deadline))
            return false;
        ns -= nap;
    }
    return true;
}

static inline bool u_scl_is_free(struct lock *lock)
{
    return !(load_relaxed(malthusian_word(lock)) & BARGING_HELD);
}

/* Watches for a while; returns true if the owner has not come back. */
static inline bool u_scl_is_left(struct lock *lock)
{
    struct u_scl *scl = u_scl_of(lock);
    for (int check = 0; check < USCL_CHECKS; check++) {
        uint32_t uses = load_relaxed(&scl->uses);
        pause_for(spin_limit() / USCL_CHECKS + 1);
        if (u_scl_is_free(lock) && load_relaxed(&scl->uses) == uses)
            return true;
    }
    return false;
}

/* Called by the standby: waits for the end of the owner's slice, or until it is
 * abandoned. */
static inline bool u_scl_await_slice(struct lock *lock, uint32_t number,
                                     const struct deadline *deadline)
{
    uint32_t owner = load_relaxed(&u_scl_of(lock)->owner);
    if (!owner || owner == number + 1)
        return true;
    for (int nap = 0; nap < USCL_NAPS && !u_scl_is_left(lock); nap++)
        if (!u_scl_nap(lock, (uint64_t)USCL_NAP_NS << nap, deadline))
            return false;
    return true;
}

static inline bool u_scl_stand_by(struct lock *lock, uint32_t number,
                                  const struct deadline *deadline)
{
    if (!u_scl_await_slice(lock, number, deadline))
        return false;
    struct u_scl *scl = u_scl_of(lock);
    store_relaxed(&scl->owner, number + 1);
    struct atomic_u32 *word = malthusian_word(lock);
    if (!malthusian_spin(word) &&
        !barging_wait(word, SPIN_THEN_PARK, 0, malthusian_patience(SPIN_THEN_PARK),
                      deadline))
        return false;
    struct u_scl_account *account = u_scl_account(lock, number);
    uint32_t now = u_scl_now();
    store_relaxed(&account->since, now ? now : 1); /* 0 means that its own account is
                                                    * not counted */
    store_relaxed(&account->used, 0);
    store_relaxed(&scl->sharers, u_scl_sharers(lock, now));
    u_scl_begin(lock, number, now);
    return true;
}

static __attribute__((noinline, unused)) bool
u_scl_wait(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, malthusian_forget);
    uint32_t number = u_scl_mine();
    struct u_scl *scl = u_scl_of(lock);
    if (load_relaxed(&scl->owner) == number + 1 &&
        malthusian_spin(malthusian_word(lock))) {
        u_scl_begin(lock, number, u_scl_now());
        return true;
    }
    struct u_scl_account *account = u_scl_account(lock, number);
    uint32_t now = u_scl_now();
    store_relaxed(&account->asked, now ? now : 1);
    store_relaxed(&lock->mode, 1);
    struct waiter *node = NULL;
    if (!u_scl_stay_away(lock, account, deadline) ||
        (!mcs_fast(lock) && !mcs_enter(lock, SPIN_THEN_PARK, deadline, &node)))
        return false;
    bool acquired = u_scl_stand_by(lock, number, deadline);
    mcs_leave(lock, node, false); /* the next waiter becomes the standby */
    return acquired;
}

static inline bool u_scl_fast(struct lock *lock)
{
    return likely(!load_relaxed(&lock->mode)) && malthusian_fast(lock);
}

DEFAULT_LOCK(u_scl)

static inline bool u_scl_trylock(struct lock *lock)
{
    if (!malthusian_trylock(lock, SPIN_THEN_PARK))
        return false;
    if (unlikely(load_relaxed(&lock->mode)))
        u_scl_begin(lock, u_scl_mine(), u_scl_now());
    return true;
}

static inline void u_scl_unlock(struct lock *lock)
{
    if (unlikely(load_relaxed(&lock->mode)))
        u_scl_end(lock);
    malthusian_unlock(lock, SPIN_THEN_PARK);
}

static inline void u_scl_adopt(struct lock *lock, struct waiter *waiter)
{
    malthusian_adopt(lock, waiter);
}

/* After u_scl_adopt: ignores slices, because the holder has passed the lock on. */
static inline void u_scl_relock(struct lock *lock)
{
    malthusian_relock(lock, SPIN_THEN_PARK);
    if (load_relaxed(&lock->mode))
        u_scl_begin(lock, u_scl_mine(), u_scl_now());
}

static inline void u_scl_destroy(struct lock *lock)
{
    side_memory_free(&lock->state[3]);
}

#endif
