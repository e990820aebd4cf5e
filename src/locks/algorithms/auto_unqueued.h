/* SPDX-License-Identifier: MIT */
/*
 * How threads wait for auto.h outside its queue: before they queue, and as long as the
 * lock is open.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_UNQUEUED_H
#define HASP_LOCKS_ALGORITHMS_AUTO_UNQUEUED_H

#include "locks/algorithms/auto_queue.h"
#include "locks/algorithms/auto_word.h"
#include "locks/memory/fork_repair.h"

/* Before it queues, a newcomer tries for a short time, in which most holders release,
 * if the policy permits it. */
static inline bool auto_try_briefly(struct lock *lock)
{
    uint32_t policy = auto_policy(lock), most = spin_limit() / 8 + 1;
    if (policy == AUTO_EXCLUSIVE ||
        (auto_long_spin(lock) && load_relaxed(auto_tail(lock))))
        return false;
    for (uint32_t spins = 0, pause = 1; spins < most; pause *= 2) {
        pause_for(pause - 1);
        spins += pause - 1 + relax_at_most(1);
        if (futex_try(lock))
            return true;
    }
    return false;
}

/* The only waiter of an open lock that spins. If it saw sleepers, it takes the lock as
 * one of them would, so that its release wakes one: they would starve beside a spinning
 * thread. If not, the holder is probably the only other user of the lock's line, which
 * then comes once for each of them. */
static inline bool auto_spin_open(struct lock *lock)
{
    uint32_t left = spin_limit(), pause = BACKOFF_LEAST, taken = AUTO_HELD;
    do {
        pause_before_attempt(&pause, &left);
        if (taken == AUTO_HELD)
            prefetch_for_write(&lock->word);
        uint32_t seen = load_relaxed(&lock->word);
        taken = seen ? seen : taken;
        if (seen == 0 && acquire_if(&lock->word, 0, taken))
            return true;
    } while (left);
    return false;
}

/* One waiter of an open lock spins; the others sleep at once, as in futex.h. If threads
 * outnumber CPUs, all do: those that are woken come soon enough, and each look would
 * take the line from the holder. Returns whether the caller has acquired the lock. A
 * spinner of a parent process does not count. */
static inline bool auto_spin_alone(struct lock *lock)
{
    struct auto_record *record = auto_record_of(lock);
    struct atomic_u32 *spins = &record->spins;
    uint32_t now = fork_generation() + 1;
    if (auto_is_crowded(record) || load_relaxed(spins) == now ||
        exchange_relaxed(spins, now) == now)
        return false;
    bool acquired = auto_spin_open(lock);
    store_relaxed(spins, 0);
    return acquired;
}

/* Sleeps on the word while the lock is open. Returns false if the deadline has passed.
 * `*acquired` is set once the caller holds the lock: a woken thread claims the word
 * before it reads the policy, so it fetches the lock's line only once. */
static inline bool auto_sleep_while_open(struct lock *lock, bool *acquired,
                                         const struct deadline *deadline)
{
    bool in_time = true;
    auto_note_waiting(lock);
    while (in_time && !*acquired && auto_policy(lock) == AUTO_OPEN) {
        in_time = auto_sleep(lock, acquired, deadline);
        *acquired = *acquired || auto_claim(lock);
    }
    return in_time;
}

#endif
