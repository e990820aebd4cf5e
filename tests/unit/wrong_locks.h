/* SPDX-License-Identifier: MIT */
/*
 * Locks with one seeded bug each, which the checks of locks.c have to reject. Otherwise
 * they are correct, and a superfluous unlock leaves no thread waiting for ever.
 */
#ifndef HASP_TESTS_UNIT_WRONG_LOCKS_H
#define HASP_TESTS_UNIT_WRONG_LOCKS_H

#include "locks/list/descriptor.h"
#include "locks/waiting/policies.h"

static void wrong_take(struct lock *lock)
{
    store_relaxed(&lock->owner, current_thread());
    store_relaxed(&lock->word, 2);
}

static bool right_timedlock(struct lock *lock, const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    while (exchange_acquire(&lock->state[0], 1) != 0)
        if (!spinner_spin(&spinner, deadline))
            return false;
    wrong_take(lock);
    return true;
}

static int right_lock(struct lock *lock)
{
    right_timedlock(lock, NULL);
    return 0;
}

static bool right_trylock(struct lock *lock)
{
    if (exchange_acquire(&lock->state[0], 1) != 0)
        return false;
    wrong_take(lock);
    return true;
}

static int right_unlock(struct lock *lock)
{
    store_relaxed(&lock->word, 0);
    store_release(&lock->state[0], 0);
    return 0;
}

static void right_destroy(struct lock *lock)
{
    (void)lock;
}

/* Takes the lock unconditionally. */
static int hasty_lock(struct lock *lock)
{
    store_relaxed(&lock->state[0], 1);
    wrong_take(lock);
    return 0;
}

static bool greedy_trylock(struct lock *lock)
{
    right_trylock(lock);
    return true;
}

static bool impatient_timedlock(struct lock *lock, const struct deadline *deadline)
{
    (void)deadline;
    return right_trylock(lock);
}

static bool endless_promise_timedlock(struct lock *lock,
                                      const struct deadline *deadline)
{
    right_timedlock(lock, deadline);
    return true;
}

static int forgetful_unlock(struct lock *lock)
{
    store_release(&lock->state[0], 0); /* the word still shows the lock as held */
    return 0;
}

static const struct lock_operations wrong_locks[] = {
    {hasty_lock, right_trylock, right_timedlock, right_unlock, right_destroy, 0, 0, 0},
    {right_lock, greedy_trylock, right_timedlock, right_unlock, right_destroy, 0, 0, 0},
    {right_lock, right_trylock, impatient_timedlock, right_unlock, right_destroy, 0, 0,
     0},
    {right_lock, right_trylock, endless_promise_timedlock, right_unlock, right_destroy,
     0, 0, 0},
    {right_lock, right_trylock, right_timedlock, forgetful_unlock, right_destroy, 0, 0,
     0},
};

#endif
