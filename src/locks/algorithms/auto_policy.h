/* SPDX-License-Identifier: MIT */
/*
 * The choice of a policy for auto.h by measurement.
 *
 *   open       no queue: one waiter spins for the word, the others sleep on it
 *   cohorts    waiters queue by NUMA node; holders hand over there (auto_cohorts.h)
 *   exclusive  the first waiter leaves the lock to its users for a slice; others sleep
 *   shared     the first waiter competes for the word; waiters spin briefly, then sleep
 *   spinning   as shared, but waiters spin for much longer
 *
 * Holders that had to wait compare how many acquisitions a second each policy reaches.
 * The current one is measured all the time; another one is tried now and then for half
 * an epoch, and soon if the rate has changed much. A trial that is clearly worse ends
 * early. If it was better, it has to stay so for some epochs: a queue is fast until its
 * first waiter has to wait for a CPU. For the same reason, the lock becomes open if the
 * rate falls. While an open lock has few waits, no other policy is tried; later, the
 * others have to beat the best of its latest epochs.
 *
 * Acquisitions by trylock do not count, unless the thread has also waited for the lock
 * (waiting/waited_for.h). If those of threads that call trylock in a loop counted, the
 * policy that makes lock() wait for longest would win.
 *
 * Cohorts are not tried where so few CPUs are available that there is hardly ever a
 * choice among waiters that run, nor while more threads wait than there are CPUs. If
 * they may be tried, they come first, and soon. A waiter that spins there and finds
 * that it has waited for a CPU ends them, for twice as long each time.
 *
 *   mode      bits 1 to 3: the policy
 *   auto_records[]  by a hash of the lock's address: the epoch's start, the rate of the
 *             policy in use, and when to try another one. Locks that share a record
 *             restart each other's epochs; that costs precision only
 *
 * P1. The records are written by holders only, but locks may share one, so nothing that
 *     is read here may matter for exclusion or progress.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_POLICY_H
#define HASP_LOCKS_ALGORITHMS_AUTO_POLICY_H

#include "locks/algorithms/auto_counts.h"
#include "locks/algorithms/auto_record.h"

enum auto_policy {
    AUTO_OPEN,
    AUTO_COHORTS,
    AUTO_EXCLUSIVE,
    AUTO_SHARED,
    AUTO_SPINNING,
    AUTO_POLICIES
};

/* In lock->mode, beside FUTEX_SHARED, which says that the bias has ended. */
enum { AUTO_POLICY_SHIFT = 1, AUTO_POLICY_BITS = 7 << AUTO_POLICY_SHIFT };

/* Kinds of epochs. NEW is the first one. SETTLING follows a trial in vain, and ENTRY
 * precedes a trial: some threads still wait in the way of the policy before, so these
 * are not measured. All but USUAL and PROOF are half as long. */
enum { AUTO_USUAL, AUTO_PROOF, AUTO_NEW, AUTO_SETTLING, AUTO_ENTRY, AUTO_TRIAL };

enum {
    AUTO_SLICE_NS = HANDOVER_LIMIT * 7000,             /* half as long in a trial */
    AUTO_EPOCH_NS = AUTO_SLICE_NS - AUTO_SLICE_NS / 8, /* at least */
    AUTO_WAIT_NS = AUTO_EPOCH_NS / 16 + 1, /* contended: one wait in this time */
    AUTO_SAMPLE = HANDOVER_LIMIT / 4 + 1,  /* waits between two looks at the clock */
    AUTO_USES = 1024,                      /* the same, of acquisitions */
    AUTO_USES_TRIED = 64,                  /* the same, in a trial */
    AUTO_TRIES = 1,                        /* epochs before the first try */
    AUTO_TRIES_MOST = 64,
    AUTO_TRIES_COHORTS = 16, /* the first try from cohorts; later pauses, times this */
    AUTO_CPUS_COHORTS = 4,
    AUTO_ENTRIES = 4,        /* of a trial, more than one */
    AUTO_ENTRIES_SHARED = 1, /* the same */
    AUTO_FORGET = 16,     /* trials; then the threads that wait are counted anew */
    AUTO_SHORT = 3,       /* quarters of the time between two uses; the rest is a use */
    AUTO_FAST = 1 << 10,  /* uses in 2^20 ns: sections are short */
    AUTO_AVOID = 1 << 16, /* times this: how many trials left cohorts out last */
    AUTO_PROOFS = 8,      /* epochs; longer than the scheduler lets a thread wait */
};

/* Set before the first lock has cohorts; a thread that is in one has seen that. */
extern struct atomic_u8 auto_cohorts_exist __attribute__((visibility("hidden")));

static inline uint32_t auto_policy(struct lock *lock)
{
    return (load_relaxed(&lock->mode) & AUTO_POLICY_BITS) >> AUTO_POLICY_SHIFT;
}

static inline bool auto_is_exclusive(struct lock *lock)
{
    return auto_policy(lock) == AUTO_EXCLUSIVE;
}

/* How long the first waiter leaves an exclusive lock to others. */
static inline uint64_t auto_slice_ns(const struct lock *lock)
{
    const struct auto_record *record = auto_record_of(lock);
    bool trial = load_relaxed(&record->kind) == AUTO_TRIAL;
    return trial ? AUTO_SLICE_NS / 2 : AUTO_SLICE_NS;
}

static inline void auto_choose(struct lock *lock, uint32_t policy)
{
    if (policy == AUTO_COHORTS && !load_relaxed(&auto_cohorts_exist))
        store_relaxed(&auto_cohorts_exist, 1);
    uint32_t others = load_relaxed(&lock->mode) & ~(uint32_t)AUTO_POLICY_BITS;
    store_release(&lock->mode,
                  (uint8_t)(others | policy << AUTO_POLICY_SHIFT)); /* see auto.h */
    if (policy == AUTO_COHORTS)
        auto_owe_wakeup(lock);
}

/* Whether a policy with this rate is better than another one with that rate. Exclusive
 * use makes threads wait for longer, and spinning takes CPU time, so they have to be
 * clearly better. */
static inline bool auto_is_better(uint32_t policy, uint64_t rate, uint32_t other,
                                  uint64_t other_rate)
{
    static const uint8_t price[] = {
        [AUTO_OPEN] = 16,   [AUTO_COHORTS] = 17,  [AUTO_EXCLUSIVE] = 18,
        [AUTO_SHARED] = 17, [AUTO_SPINNING] = 17,
    };
    return rate * price[other] > other_rate * price[policy];
}

/* Leaves cohorts out for so many trials, and for twice as many each time. */
static inline void auto_avoid_cohorts(struct auto_record *record, uint32_t trials)
{
    uint32_t before = load_relaxed(&record->avoided) / AUTO_AVOID;
    if (before)
        trials = before < AUTO_AVOID / 4 ? 2 * before : before;
    store_relaxed(&record->avoided, trials * (AUTO_AVOID + 1));
}

static inline bool auto_has_enough_cpus(void)
{
    return cpu_count() >= (uint32_t)AUTO_CPUS_COHORTS;
}

/* Returns whether more threads wait than there are CPUs. */
static inline bool auto_is_crowded(const struct auto_record *record)
{
    uint32_t cpus = cpu_count();
    return auto_has_enough_cpus() && auto_waiting(record) > cpus + cpus / 4;
}

/* Returns whether so many threads sleep while others use an open lock that cohorts may
 * pay, although hardly any of them acquires it after a wait. */
static inline bool auto_has_queue(const struct auto_record *record)
{
    return auto_has_enough_cpus() && auto_waiting(record) >= AUTO_CPUS_COHORTS;
}

/* Returns whether a policy may pay. Long spins do not if threads outnumber CPUs. */
static inline bool auto_may_try(struct auto_record *record, uint32_t policy)
{
    uint32_t avoided = load_relaxed(&record->avoided);
    if (policy == AUTO_SPINNING)
        return !auto_is_crowded(record);
    if (policy != AUTO_COHORTS)
        return true;
    if (avoided % AUTO_AVOID)
        store_relaxed(&record->avoided, avoided - 1);
    return !(avoided % AUTO_AVOID) && auto_has_enough_cpus() &&
           !auto_is_crowded(record);
}

/* Returns how many epochs a policy has to prove itself. Cohorts notice by themselves
 * that threads outnumber CPUs, and exclusive use does not depend on it. */
static inline uint32_t auto_proofs(uint32_t policy)
{
    bool soon = policy == AUTO_COHORTS || policy == AUTO_EXCLUSIVE;
    return soon && auto_has_enough_cpus() ? AUTO_PROOFS / 4 : AUTO_PROOFS;
}

/* Cohorts have proven themselves. If sections are short, and threads come back before
 * another one could have used the lock, exclusive use may be better still; so it may be
 * if so few threads take turns that `away` was never measured. */
static inline bool auto_cohorts_stay(struct auto_record *record, uint64_t rate)
{
    uint64_t away = load_relaxed(&record->away); /* 0: never measured */
    return rate < AUTO_FAST ||
           (away ? 4 * away * rate > AUTO_SHORT << 20 : auto_has_queue(record));
}

#endif
