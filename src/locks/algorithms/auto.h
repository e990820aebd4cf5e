/* SPDX-License-Identifier: MIT */
/*
 * Auto: one lock that chooses between a queue, a queue for each NUMA node, competition
 * without a queue, exclusive use and long spinning by measuring them, for each mutex by
 * itself. This project's own, from the parts of others: the word and the bias of
 * futex.h; the standby and the passive queue of D. Dice, "Malthusian locks", EuroSys
 * 2017; slices as in Y. Patel et al., "Avoiding scheduler subversion using
 * scheduler-cooperative locks", EuroSys 2020; cohorts of D. Dice, V. Marathe, N.
 * Shavit, "Lock cohorting", PPoPP 2012; a choice by measurement as in J. Antić et al.,
 * "Locking made easy", Middleware 2016.
 *
 * Idea: until it is contended, this is the futex lock. At first it stays open: one
 * waiter spins, the others sleep on the word. If the lock is shared, they queue, and
 * only the first waiter competes for the word with threads that arrive. If the lock is
 * exclusive, the first waiter leaves it to the threads that use it, without a transfer
 * of cache lines, until they pause or its patience of one slice is over; then the next
 * release hands the lock to it. A queue suffers if threads outnumber CPUs: a new first
 * waiter is woken while the lock is held, which takes longer than a short section, and
 * then it may wait for a CPU while the others sleep. So the queue is dissolved when the
 * lock becomes open: all its threads sleep on the word then, and any of them may be
 * next.
 *
 * If many threads that run want the lock, it is fastest to hand it over from one to the
 * next on the same NUMA node, without touching the lock: the waiters of each node form
 * a cohort (auto_cohorts.h). Its first thread competes for the word; then the lock
 * stays within the cohort for a series of handovers, and goes to the next cohort.
 *
 *   word      0 free; 1 held; 2 held with possible sleepers on the word; 3 the same,
 *             and the first waiter demands the lock
 *   mode      FUTEX_SHARED: the bias has ended; the policy (auto_policy.h)
 *   state[0]  tail of the queue (auto_queue.h)
 *   state[1]  demand: id of the first waiter, once it demands the lock; AUTO_GRANTED
 *             added by the release that grants it
 *   state[2]  counts for the choice; whether the lock is held by a node
 *             (auto_counts.h)
 *   state[3]  directory of the cohorts' queues (auto_cohorts.h)
 *
 * I1. A thread acquires by a compare-and-exchange of the word from 0 (acquire), or by
 *     the grant of its cell (acquire), upon which the word has not been 0. These pair
 *     with the compare-and-exchange to 0, or the store of the biased release, and with
 *     the grant (all release).
 * I2. The word and the demand keep W1 and W2 of auto_word.h, the queue Q1 to Q4 of
 *     auto_queue.h, cohorts N1 to N3 of auto_cohorts.h, leaders L1 and L2 of
 *     auto_leaders.h, the counts C1 and C2 of auto_counts.h.
 * I3. Biased releases are those of futex.h, with its invariants: the first waiters
 *     count themselves in and sleep on the word. They turn to the queue once the bias
 *     has ended.
 * I4. The policy decides only where and for how long threads wait before they try the
 *     word, never whether they may acquire it. While a node holds the lock, the policy
 *     may change; AUTO_BY_NODE says how to release.
 *
 * Timed lock: it joins no cohort. A queued waiter leaves as in mcs.h; the first one
 * takes its demand back, or has been granted the lock.
 *
 * Trylock: it takes the word if it is free, and asks for its line in a writable state
 * before it reads it (auto_trylock.h). Unless the thread has also waited for the
 * lock, that does not count as a use of it: neither for the first waiter of an
 * exclusive lock nor for the choice of the policy. A thread whose trylock fails again
 * pauses for three times as long as it took to read the lock.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_H
#define HASP_LOCKS_ALGORITHMS_AUTO_H

#include "locks/algorithms/auto_release.h"
#include "locks/algorithms/auto_trylock.h"
#include "locks/algorithms/auto_waiting.h"

/* Acquire: pairs with the release of every store to the mode. So a thread that finds
 * the bias ended sees the word as it was then, or later: its compare-and-exchange of
 * the word cannot take effect before the store of a biased release, which would undo
 * it. */
static inline bool auto_bias_ended(struct lock *lock)
{
    return load_acquire(&lock->mode) & FUTEX_SHARED;
}

static inline void auto_end_bias(struct lock *lock)
{
    store_release(&lock->mode, load_relaxed(&lock->mode) | FUTEX_SHARED);
}

static inline bool auto_fast(struct lock *lock)
{
    return futex_fast(lock);
}

/* The lock's counter in `futex_sleepers`. Each biased release hashes the address, and
 * reads auto_cohorts_exist besides, so this is one multiplication. */
static inline struct atomic_u32 *auto_bucket(const struct lock *lock)
{
    uint32_t hash = (uint32_t)(uintptr_t)lock * 2654435761u;
    return &futex_sleepers[hash / (UINT32_MAX / FUTEX_BUCKETS + 1)];
}

/* A sleeper of a biased lock that was woken in vain. While two threads use the lock in
 * turn, each arrives when the other releases: neither waits, so none of them ends the
 * bias, and those that sleep would find the word held for ever. With the line in a
 * writable state, the caller is as likely as they are to be next. */
static inline bool auto_spin_woken(struct lock *lock)
{
    for (uint32_t spins = spin_limit(); spins; spins -= relax_at_most(spins)) {
        prefetch_for_write(&lock->word);
        if (load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, AUTO_SLEEPERS))
            return true;
    }
    return false;
}

/* The lock is still biased, or was so when the caller arrived. */
static __attribute__((noinline, unused)) enum auto_outcome
auto_wait_biased(struct lock *lock, bool joins, const struct deadline *deadline)
{
    struct atomic_u32 *sleepers = auto_bucket(lock);
    fetch_add_relaxed(sleepers, 1); /* as in futex_wait_biased */
    bool ordered = heavy_barrier(), acquired = false, in_time = true;
    while (in_time && !acquired) {
        if (ordered) {
            in_time = auto_sleep(lock, &acquired, deadline);
        } else {
            struct deadline slice = deadline_after(FUTEX_SLICE_NS);
            auto_sleep(lock, &acquired, &slice);
            in_time = !deadline || !deadline_passed(deadline);
        }
        acquired = acquired || auto_claim(lock) || auto_spin_woken(lock);
        if (auto_bias_ended(lock))
            break;
    }
    if (acquired) {
        auto_end_bias(lock);
        auto_adapt(lock);
    }
    fetch_add_relaxed(sleepers, UINT32_MAX); /* subtract one */
    return acquired   ? AUTO_ACQUIRED
           : !in_time ? AUTO_TIMED_OUT
                      : auto_wait_asleep(lock, joins, deadline);
}

/* If `joins`, it returns AUTO_MOVED once the caller should wait among its cohort. */
static __attribute__((noinline, unused)) enum auto_outcome
auto_wait(struct lock *lock, bool biased, bool joins, const struct deadline *deadline)
{
    if (biased && !auto_bias_ended(lock))
        return auto_wait_biased(lock, joins, deadline);
    note_wait_for(lock);
    fork_repair_if_due(lock, auto_forget);
    bool open = auto_policy(lock) == AUTO_OPEN;
    if (open ? auto_spin_alone(lock) : auto_try_briefly(lock)) {
        auto_adapt(lock);
        return AUTO_ACQUIRED;
    }
    enum auto_outcome outcome =
        open ? AUTO_MOVED : auto_queue(lock, AUTO_HELD, deadline);
    return outcome == AUTO_MOVED ? auto_wait_asleep(lock, joins, deadline) : outcome;
}

static inline bool auto_timedlock(struct lock *lock, bool biased,
                                  const struct deadline *deadline)
{
    return auto_fast(lock) || auto_wait(lock, biased, false, deadline) == AUTO_ACQUIRED;
}

/* Waits among the cohort of the caller, which holds the lock by its node then. Returns
 * false if it has to wait in another way; `*moved`: as a sleeper of the word. */
static __attribute__((noinline, unused)) bool auto_wait_in_cohort(struct lock *lock,
                                                                  bool *moved)
{
    fork_repair_if_due(lock, auto_forget);
    note_wait_for(lock);
    struct waiter *self;
    enum auto_member member = auto_cohort_enter(lock, &self);
    *moved = member == AUTO_SLEEPER;
    if (member < AUTO_LEADER)
        return false;
    if (member == AUTO_LEADER)
        auto_lead(lock, self);
    held_node_begin(lock, self);
    return true;
}

/* Acquire: the bias has ended then, see auto_bias_ended. */
static inline bool auto_has_cohorts(struct lock *lock)
{
    uint32_t policy = load_acquire(&lock->mode) & AUTO_POLICY_BITS;
    return policy >> AUTO_POLICY_SHIFT == AUTO_COHORTS;
}

static inline enum acquisition auto_lock(struct lock *lock, bool biased)
{
    if (unlikely(load_relaxed(&held_nodes()->released)))
        auto_note_return(lock);
    bool cohorts = auto_has_cohorts(lock);
    if (cohorts ? auto_try(lock) : auto_fast(lock))
        return ACQUIRED;
    while (true) {
        bool moved = false;
        if (cohorts && auto_wait_in_cohort(lock, &moved))
            return ACQUIRED_BY_NODE;
        if ((moved ? auto_wait_asleep(lock, true, NULL)
                   : auto_wait(lock, biased, true, NULL)) != AUTO_MOVED)
            return ACQUIRED;
        cohorts = auto_has_cohorts(lock);
    }
}

static inline void auto_unlock_unbiased(struct lock *lock)
{
    if (unlikely(!auto_count_use(lock))) {
        auto_unlock_by_node(lock);
        return;
    }
    store_relaxed(&lock->owner, 0);
    if (unlikely(!release_if(&lock->word, AUTO_HELD, 0)))
        auto_unlock_wanted(lock);
}

static inline void auto_unlock(struct lock *lock, bool biased)
{
    prefetch_for_write(&lock->word); /* or else the line may come twice */
    if (biased && likely(!(load_relaxed(&lock->mode) & FUTEX_SHARED))) {
        struct atomic_u32 *sleepers = auto_bucket(lock);
        store_relaxed(&lock->owner, 0);
        store_release(&lock->word, 0);
        light_barrier(); /* pairs with the heavy one in auto_wait_biased */
        release_window();
        if (unlikely(load_relaxed(sleepers) != 0))
            unpark(&lock->word, 1);
    } else {
        auto_unlock_unbiased(lock);
    }
}

/* Returns whether the caller may hold a lock by its node. */
static inline bool auto_uses_nodes(void)
{
    return load_relaxed(&auto_cohorts_exist);
}

/* The holder moves a thread that sleeps on a condition variable to the word's
 * sleepers. */
static inline void auto_adopt(struct lock *lock, struct waiter *waiter)
{
    auto_end_bias(lock);
    auto_claim(lock);
    if (auto_policy(lock) == AUTO_COHORTS)
        auto_owe_wakeup(lock);
    move_to_sleepers(waiter, &lock->word);
}

/* After auto_adopt: the thread may have slept among others. */
static inline void auto_relock(struct lock *lock, bool biased)
{
    (void)biased;
    for (uint32_t spins = spin_limit() / 4 + 1; spins; spins -= relax_at_most(spins))
        if (load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, AUTO_SLEEPERS))
            return;
    auto_wait_asleep(lock, false, NULL);
}

static inline struct directory_to_destroy auto_destroy(struct lock *lock)
{
    side_memory_free(auto_directory(lock));
    return (struct directory_to_destroy){0};
}

#endif
