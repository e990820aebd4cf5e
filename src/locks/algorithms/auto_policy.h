/* SPDX-License-Identifier: MIT */
/*
 * The choice of a policy for auto.h by measurement.
 *
 *   shared     the first waiter competes for the word; waiters spin briefly, then sleep
 *   exclusive  the first waiter leaves the lock to its users for a slice; others sleep
 *   spinning   as shared, but waiters spin for much longer
 *
 * Holders that had to wait compare how many acquisitions a second each policy reaches.
 * The current one is measured all the time; another one is tried now and then for half
 * an epoch, and soon if the rate has changed much. A lock with few waits is not tried.
 *
 * Acquisitions by trylock do not count. Threads that call it in a loop never wait, so
 * they acquire the lock most often while the others wait: if they counted, the policy
 * that makes lock() wait for longest would win.
 *
 *   mode      bits 1 and 2: the policy
 *   state[2]  acquisitions, except by trylock, since the lock was first contended
 *   state[3]  those among them that had to wait, in this epoch; AUTO_TRIED: the holder
 *             acquired by trylock
 *   auto_records[]  by a hash of the lock's address: the epoch's start, the rate of the
 *             policy in use, and when to try another one. Locks that share a record
 *             restart each other's epochs; that costs precision only
 *
 * P1. The cells are written by holders only, but locks may share a record, so nothing
 *     that is read here may matter for exclusion or progress.
 * P2. state[2] and state[3] are read and written by holders only, except that the first
 *     waiter reads state[2]. AUTO_TRIED is set after a trylock, unless the release will
 *     be a biased one, and cleared by the release, which then does not count.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_POLICY_H
#define HASP_LOCKS_ALGORITHMS_AUTO_POLICY_H

#include "locks/algorithms/futex.h"

enum auto_policy { AUTO_SHARED, AUTO_EXCLUSIVE, AUTO_SPINNING, AUTO_POLICIES };

/* In lock->mode, beside FUTEX_SHARED, which says that the bias has ended. */
enum { AUTO_POLICY_SHIFT = 1, AUTO_POLICY_BITS = 3 << AUTO_POLICY_SHIFT };
#define AUTO_TRIED 0x80000000u

enum {
    AUTO_RECORDS = 512,
    AUTO_SLICE_NS = HANDOVER_LIMIT * 7000, /* half as long in a trial */
    AUTO_EPOCH_NS = AUTO_SLICE_NS - AUTO_SLICE_NS / 8, /* at least */
    AUTO_SAMPLE = HANDOVER_LIMIT / 4 + 1,  /* waits between two looks at the clock */
    AUTO_TRIES = 1,                        /* epochs before the first try */
    AUTO_TRIES_MOST = 32,
};

struct auto_record {
    struct atomic_u64 lock;
    struct atomic_u64 since; /* ns; start of the epoch */
    struct atomic_u32 count; /* state[2] at that time */
    struct atomic_u32 rate;  /* of the policy in use: acquisitions in 2^20 ns */
    struct atomic_u32 trial; /* 1: this epoch tries another policy ... */
    struct atomic_u32 usual; /* ... than this one */
    struct atomic_u32 tried; /* number of trials */
    struct atomic_u32 pause; /* epochs between two trials */
    struct atomic_u32 left;  /* epochs until the next trial */
} __attribute__((aligned(64)));

extern struct auto_record auto_records[AUTO_RECORDS]
    __attribute__((visibility("hidden")));

static inline struct atomic_u32 *auto_count(struct lock *lock)
{
    return &lock->state[2];
}

static inline struct atomic_u32 *auto_waits(struct lock *lock)
{
    return &lock->state[3];
}

/* The caller has acquired the lock by trylock. */
static inline void auto_mark_tried(struct lock *lock, bool biased)
{
    if (!biased || load_relaxed(&lock->mode) & FUTEX_SHARED)
        store_relaxed(auto_waits(lock), load_relaxed(auto_waits(lock)) | AUTO_TRIED);
}

/* The holder is about to release the lock, which is not biased. */
static inline void auto_count_use(struct lock *lock)
{
    uint32_t waits = load_relaxed(auto_waits(lock));
    if (unlikely(waits & AUTO_TRIED))
        store_relaxed(auto_waits(lock), waits & ~AUTO_TRIED);
    else
        store_relaxed(auto_count(lock), load_relaxed(auto_count(lock)) + 1);
}

static inline uint32_t auto_policy(struct lock *lock)
{
    return (load_relaxed(&lock->mode) & AUTO_POLICY_BITS) >> AUTO_POLICY_SHIFT;
}

static inline bool auto_is_exclusive(struct lock *lock)
{
    return auto_policy(lock) == AUTO_EXCLUSIVE;
}

static inline struct auto_record *auto_record_of(const struct lock *lock)
{
    uintptr_t address = (uintptr_t)lock;
    return &auto_records[(address >> 3 ^ address >> 12) % AUTO_RECORDS];
}

/* How long the first waiter leaves an exclusive lock to others. */
static inline uint64_t auto_slice_ns(const struct lock *lock)
{
    const struct auto_record *record = auto_record_of(lock);
    return load_relaxed(&record->trial) ? AUTO_SLICE_NS / 2 : AUTO_SLICE_NS;
}

static inline void auto_choose(struct lock *lock, uint32_t policy)
{
    uint32_t others = load_relaxed(&lock->mode) & ~(uint32_t)AUTO_POLICY_BITS;
    store_release(&lock->mode,
                  (uint8_t)(others | policy << AUTO_POLICY_SHIFT)); /* see auto.h */
}

/* Whether a policy with this rate is better than another one with that rate. Exclusive
 * use makes threads wait for longer, and spinning takes CPU time, so they have to be
 * clearly better. */
static inline bool auto_is_better(uint32_t policy, uint64_t rate, uint32_t other,
                                  uint64_t other_rate)
{
    static const uint8_t price[] = {
        [AUTO_SHARED] = 16, [AUTO_EXCLUSIVE] = 18, [AUTO_SPINNING] = 17};
    return rate * price[other] > other_rate * price[policy];
}

/* The trial of a policy is over: keeps the better one. */
static inline void auto_judge(struct lock *lock, struct auto_record *record,
                              uint32_t rate)
{
    uint32_t usual = load_relaxed(&record->usual), pause = AUTO_TRIES;
    store_relaxed(&record->trial, 0);
    if (auto_is_better(auto_policy(lock), rate, usual, load_relaxed(&record->rate))) {
        store_relaxed(&record->rate, rate);
    } else {
        auto_choose(lock, usual % AUTO_POLICIES);
        pause = 2 * load_relaxed(&record->pause);
        if (pause > AUTO_TRIES_MOST)
            pause = AUTO_TRIES_MOST;
    }
    store_relaxed(&record->pause, pause);
    store_relaxed(&record->left, pause);
}

static inline void auto_try_another(struct lock *lock, struct auto_record *record)
{
    uint32_t usual = auto_policy(lock), tried = load_relaxed(&record->tried);
    store_relaxed(&record->trial, 1);
    store_relaxed(&record->usual, usual);
    store_relaxed(&record->tried, tried + 1);
    auto_choose(lock, (usual + 1 + tried % (AUTO_POLICIES - 1)) % AUTO_POLICIES);
}

/* An epoch with the policy in use is over: is it time to try another one? */
static inline void auto_consider(struct lock *lock, struct auto_record *record,
                                 uint32_t rate, bool contended)
{
    uint32_t before = load_relaxed(&record->rate);
    uint32_t left = load_relaxed(&record->left);
    bool changed = rate > before + before / 3 || rate < before - before / 3;
    store_relaxed(&record->rate, rate);
    if (changed) {
        store_relaxed(&record->pause, AUTO_TRIES);
        left = left < AUTO_TRIES ? left : AUTO_TRIES;
    }
    if (!contended && auto_policy(lock) == AUTO_SHARED)
        return;
    if (left) {
        store_relaxed(&record->left, left - 1);
        return;
    }
    auto_try_another(lock, record);
}

static __attribute__((noinline, unused)) void auto_look(struct lock *lock)
{
    struct auto_record *record = auto_record_of(lock);
    uint64_t now = now_ns(), since = load_relaxed(&record->since);
    uint32_t count = load_relaxed(auto_count(lock));
    bool mine = load_relaxed(&record->lock) == (uintptr_t)lock;
    bool trial = mine && load_relaxed(&record->trial);
    if (mine && now - since < (trial ? AUTO_EPOCH_NS / 2 : AUTO_EPOCH_NS))
        return;
    uint32_t uses = count - load_relaxed(&record->count);
    uint32_t waits = load_relaxed(auto_waits(lock));
    store_relaxed(&record->since, now);
    store_relaxed(&record->count, count);
    store_relaxed(auto_waits(lock), 0);
    if (!mine) {
        store_relaxed(&record->lock, (uintptr_t)lock);
        store_relaxed(&record->rate, 0);
        store_relaxed(&record->trial, 0);
        store_relaxed(&record->pause, AUTO_TRIES);
        store_relaxed(&record->left, AUTO_TRIES);
        return;
    }
    uint64_t rate = ((uint64_t)uses << 20) / (now - since + 1);
    if (trial)
        auto_judge(lock, record, (uint32_t)rate);
    else
        auto_consider(lock, record, (uint32_t)rate, waits >= uses / 16);
}

/* Called by a holder that had to wait. */
static inline void auto_adapt(struct lock *lock)
{
    uint32_t waits = load_relaxed(auto_waits(lock)) + 1;
    store_relaxed(auto_waits(lock), waits);
    if (HANDOVER_LIMIT == 1) /* model checker: the policy changes all the time */
        auto_choose(lock, (auto_policy(lock) + 1) % AUTO_POLICIES);
    else if (auto_is_exclusive(lock) || waits % AUTO_SAMPLE == 0)
        auto_look(lock);
}

#endif
