/* SPDX-License-Identifier: MIT */
/*
 * Malthusian MCS (MCSCR): concurrency restriction at the release.
 * D. Dice, "Malthusian locks", EuroSys 2017.
 *
 * Idea: a lock needs only so many threads circulating over it that one always waits. The
 * releaser takes surplus waiters out of the queue and sets them aside, most recent first; when
 * the queue runs dry it brings the most recent one back, whose cache is still warm. Now and then
 * it brings back the eldest instead, which bounds how long anybody stays aside.
 *
 * {tail, next} as in mcs.h; the passive list, of the holder only, follows them:
 *   recent  id of the waiter set aside last, 0 none;  eldest  the one set aside first
 *   In that list a waiter's `next` is the one set aside before it, `previous` the one after.
 *
 * I1. Free means tail, next and both ends of the passive list are 0: whoever releases last
 *     brings the passive back before it frees the lock.
 * I2. A passive waiter's cell is WAITING or PARKED, or LEFT; it is granted like any other.
 */
#ifndef HASP_LOCKS_MALTHUSIAN_H
#define HASP_LOCKS_MALTHUSIAN_H

#include "locks/mcs.h"

enum { RELEASES_PER_ELDEST = 256 }; /* the paper: one in 1000, by chance */

struct malthusian {
    struct mcs mcs;
    struct atomic_u32 recent, eldest;
};

static inline struct malthusian *malthusian_of(struct lock *lock)
{
    return (struct malthusian *)lock->state;
}

static inline void malthusian_set_aside(struct malthusian *all, struct waiter *waiter)
{
    uint32_t before = load_relaxed(&all->recent);
    store_relaxed(&waiter->next, before);
    store_relaxed(&waiter->previous, 0);
    if (before)
        store_relaxed(&waiter_at(before)->previous, waiter->id);
    else
        store_relaxed(&all->eldest, waiter->id);
    store_relaxed(&all->recent, waiter->id);
}

static inline struct waiter *malthusian_bring_recent(struct malthusian *all)
{
    struct waiter *waiter = waiter_at(load_relaxed(&all->recent));
    uint32_t older = load_relaxed(&waiter->next);
    store_relaxed(&all->recent, older);
    if (older)
        store_relaxed(&waiter_at(older)->previous, 0);
    else
        store_relaxed(&all->eldest, 0);
    return waiter;
}

static inline struct waiter *malthusian_bring_eldest(struct malthusian *all)
{
    struct waiter *waiter = waiter_at(load_relaxed(&all->eldest));
    uint32_t newer = load_relaxed(&waiter->previous);
    store_relaxed(&all->eldest, newer);
    if (newer)
        store_relaxed(&waiter_at(newer)->next, 0);
    else
        store_relaxed(&all->recent, 0);
    return waiter;
}

/* With nobody queued: frees the lock (true), or leaves the first waiter in mcs.next. */
static inline bool malthusian_refill(struct malthusian *all)
{
    struct mcs *mcs = &all->mcs;
    if (load_relaxed(&all->recent)) {
        struct waiter *waiter = malthusian_bring_recent(all);
        uint32_t tail = TAIL_HELD;
        store_relaxed(&waiter->next, 0);
        if (compare_exchange_acq_rel(&mcs->tail, &tail, waiter->id)) {
            store_relaxed(&mcs->next, waiter->id);
            return false;
        }
        malthusian_set_aside(all, waiter);
    } else if (release_if(&mcs->tail, TAIL_HELD, 0)) {
        return true;
    }
    spin_until(load_acquire(&mcs->next) != 0);
    return false;
}

/* Picks who gets the lock, given that somebody is queued. */
static inline struct waiter *malthusian_pick(struct lock *lock)
{
    struct malthusian *all = malthusian_of(lock);
    uint32_t first = load_relaxed(&all->mcs.next);
    uint8_t turn = (uint8_t)(load_relaxed(&lock->mode) + 1) % RELEASES_PER_ELDEST;
    store_relaxed(&lock->mode, turn);
    if (!turn && load_relaxed(&all->eldest)) {
        struct waiter *eldest = malthusian_bring_eldest(all);
        store_relaxed(&eldest->next, first); /* in front of the queue */
        return eldest;
    }
    struct waiter *head = waiter_at(first);
    uint32_t second = load_acquire(&head->next);
    if (!second)
        return head;
    malthusian_set_aside(all, head);
    store_relaxed(&all->mcs.next, second);
    return waiter_at(second);
}

static __attribute__((noinline, unused)) void malthusian_unlock_queued(struct lock *lock)
{
    ghosts_check_holder(lock, mcs_forget);
    struct malthusian *all = malthusian_of(lock);
    while (true) {
        if (!load_acquire(&all->mcs.next) && malthusian_refill(all))
            return;
        struct waiter *chosen = malthusian_pick(lock);
        if (grant(&chosen->cell, chosen->may_change))
            return;
        mcs_settle(&all->mcs, chosen); /* it left */
    }
}

static inline void malthusian_unlock(struct lock *lock)
{
    if (likely(!load_relaxed(&malthusian_of(lock)->recent)) &&
        likely(release_if(&malthusian_of(lock)->mcs.tail, TAIL_HELD, 0)))
        return;
    malthusian_unlock_queued(lock);
}

static inline bool malthusian_trylock(struct lock *lock)
{
    return mcs_trylock(lock, SPIN_THEN_PARK);
}

static inline bool malthusian_timedlock(struct lock *lock, const struct deadline *deadline)
{
    return mcs_timedlock(lock, SPIN_THEN_PARK, deadline);
}

static inline void malthusian_lock(struct lock *lock)
{
    mcs_lock(lock, SPIN_THEN_PARK);
}

static inline void malthusian_adopt(struct lock *lock, struct waiter *waiter)
{
    mcs_adopt(lock, waiter);
}

static inline void malthusian_adopted(struct lock *lock, struct waiter *waiter)
{
    mcs_adopted(lock, waiter);
}

static inline void malthusian_destroy(struct lock *lock)
{
    (void)lock;
}

#endif
