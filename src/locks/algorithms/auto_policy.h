/* SPDX-License-Identifier: MIT */
/*
 * The choice of a policy for auto.h by measurement.
 *
 *   open       no queue: one waiter spins for the word, the others sleep on it
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

enum auto_policy {
    AUTO_OPEN,
    AUTO_EXCLUSIVE,
    AUTO_SHARED,
    AUTO_SPINNING,
    AUTO_POLICIES
};

/* In lock->mode, beside FUTEX_SHARED, which says that the bias has ended. */
enum { AUTO_POLICY_SHIFT = 1, AUTO_POLICY_BITS = 3 << AUTO_POLICY_SHIFT };
#define AUTO_TRIED 0x80000000u

/* Kinds of epochs. SETTLING follows a trial in vain, and ENTRY precedes a trial: some
 * threads still wait in the way of the policy before, so these are not measured.
 * SETTLING, ENTRY and TRIAL are half as long. */
enum { AUTO_USUAL, AUTO_PROOF, AUTO_SETTLING, AUTO_ENTRY, AUTO_TRIAL };

enum {
    AUTO_RECORDS = 512,
    AUTO_SLICE_NS = HANDOVER_LIMIT * 7000, /* half as long in a trial */
    AUTO_EPOCH_NS = AUTO_SLICE_NS - AUTO_SLICE_NS / 8, /* at least */
    AUTO_WAIT_NS = AUTO_EPOCH_NS / 16 + 1, /* contended: one wait in this time */
    AUTO_SAMPLE = HANDOVER_LIMIT / 4 + 1,  /* waits between two looks at the clock */
    AUTO_USES = 1024,                      /* the same, of acquisitions */
    AUTO_USES_TRIED = 64,                  /* the same, in a trial */
    AUTO_TRIES = 1,                        /* epochs before the first try */
    AUTO_TRIES_MOST = 64,
    AUTO_PROOFS = 8, /* epochs; longer than the scheduler lets a thread wait */
};

struct auto_record {
    struct atomic_u64 lock;
    struct atomic_u64 since; /* ns; start of the epoch */
    struct atomic_u32 count; /* state[2] at that time */
    struct atomic_u32 rate;  /* of the policy in use: acquisitions in 2^20 ns */
    struct atomic_u32 kind;  /* of the epoch */
    struct atomic_u32 usual; /* the policy before a trial */
    struct atomic_u32 tried; /* number of trials */
    struct atomic_u32 pause; /* epochs between two trials */
    struct atomic_u32 left;  /* epochs until the next trial, or the end of a proof */
    struct atomic_u32 bad;   /* epochs in a row with a far lower rate */
    struct atomic_u32 spins; /* AUTO_OPEN: a waiter spins, see auto.h; a hint */
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
    bool trial = load_relaxed(&record->kind) == AUTO_TRIAL;
    return trial ? AUTO_SLICE_NS / 2 : AUTO_SLICE_NS;
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
        [AUTO_OPEN] = 16,
        [AUTO_EXCLUSIVE] = 18,
        [AUTO_SHARED] = 17,
        [AUTO_SPINNING] = 17,
    };
    return rate * price[other] > other_rate * price[policy];
}

static inline void auto_settle(struct lock *lock, struct auto_record *record,
                               uint32_t policy, uint32_t left)
{
    auto_choose(lock, policy % AUTO_POLICIES);
    store_relaxed(&record->kind, AUTO_SETTLING);
    store_relaxed(&record->left, left);
}

/* The trial of a policy was in vain. Once all have been tried, the pauses become longer
 * and longer. */
static inline void auto_give_up(struct lock *lock, struct auto_record *record)
{
    bool all = load_relaxed(&record->tried) % (AUTO_POLICIES - 1) == 0;
    uint32_t pause = load_relaxed(&record->pause);
    if ((all || pause > AUTO_TRIES) && pause < AUTO_TRIES_MOST)
        pause *= 2;
    store_relaxed(&record->pause, pause);
    auto_settle(lock, record, load_relaxed(&record->usual), pause);
}

/* The trial of a policy is over. */
static inline void auto_judge(struct lock *lock, struct auto_record *record,
                              uint32_t rate)
{
    uint32_t usual = load_relaxed(&record->usual);
    if (auto_is_better(auto_policy(lock), rate, usual, load_relaxed(&record->rate))) {
        store_relaxed(&record->kind, AUTO_PROOF);
        store_relaxed(&record->left, AUTO_PROOFS);
    } else {
        auto_give_up(lock, record);
    }
}

/* An epoch of a policy that was better in its trial is over. A bad one now and then is
 * the scheduler's doing. */
static inline void auto_prove(struct lock *lock, struct auto_record *record,
                              uint32_t rate)
{
    bool good = rate >= load_relaxed(&record->rate);
    uint32_t left = load_relaxed(&record->left) + (good ? -1u : AUTO_PROOFS / 2);
    store_relaxed(&record->left, left);
    if (left > AUTO_PROOFS + AUTO_PROOFS / 2) {
        auto_give_up(lock, record);
    } else if (!left) {
        store_relaxed(&record->kind, AUTO_USUAL);
        store_relaxed(&record->rate, rate);
        store_relaxed(&record->pause, AUTO_TRIES);
        store_relaxed(&record->left, AUTO_TRIES);
    }
}

static inline void auto_try_another(struct lock *lock, struct auto_record *record)
{
    uint32_t usual = auto_policy(lock), tried = load_relaxed(&record->tried);
    uint32_t other = (usual + 1 + tried % (AUTO_POLICIES - 1)) % AUTO_POLICIES;
    store_relaxed(&record->kind, AUTO_ENTRY);
    store_relaxed(&record->usual, usual);
    store_relaxed(&record->tried, tried + 1);
    auto_choose(lock, other);
}

/* The rate of a policy has fallen: the lock becomes open. An exclusive one is tried
 * again at once, as it depends on chance much less than a queue. */
static inline void auto_fall_back(struct lock *lock, struct auto_record *record)
{
    uint32_t pause = load_relaxed(&record->pause);
    pause = pause < AUTO_TRIES_MOST ? 2 * pause : pause;
    store_relaxed(&record->pause, pause);
    store_relaxed(&record->tried, 0);
    auto_settle(lock, record, AUTO_OPEN, auto_is_exclusive(lock) ? AUTO_TRIES : pause);
}

/* Returns whether the rate of the policy in use has changed much, and keeps it. A fall
 * has to last for two epochs. An open lock's rate depends on which threads happen to
 * have a CPU, so the highest one of the latest epochs is kept, and only a fall that
 * this does not explain counts. */
static inline bool auto_has_changed(struct auto_record *record, uint32_t rate,
                                    bool open)
{
    uint32_t before = load_relaxed(&record->rate), bad = load_relaxed(&record->bad);
    bool fallen = rate < (open ? before / 4 : before - before / 3);
    store_relaxed(&record->bad, fallen && !bad);
    if (fallen && !bad)
        return false;
    uint32_t kept = open && !fallen ? before - before / 32 : 0;
    store_relaxed(&record->rate, rate > kept ? rate : kept);
    return fallen || rate > before + before / 3;
}

/* An epoch with the policy in use is over: is it time to try another one? */
static inline void auto_consider(struct lock *lock, struct auto_record *record,
                                 uint32_t rate, bool contended)
{
    uint32_t before = load_relaxed(&record->rate);
    uint32_t left = load_relaxed(&record->left);
    bool open = auto_policy(lock) == AUTO_OPEN;
    if (auto_has_changed(record, rate, open)) {
        if (rate < before && !open) {
            auto_fall_back(lock, record);
            return;
        }
        uint32_t pause = load_relaxed(&record->pause) / 8 + AUTO_TRIES;
        store_relaxed(&record->pause, pause);
        left = left < pause ? left : pause;
    }
    if (!contended && open)
        return;
    if (left)
        store_relaxed(&record->left, left - 1);
    else
        auto_try_another(lock, record);
}

static inline void auto_begin(struct lock *lock, struct auto_record *record)
{
    store_relaxed(&record->lock, (uintptr_t)lock);
    store_relaxed(&record->rate, 0);
    store_relaxed(&record->bad, 0);
    store_relaxed(&record->kind, AUTO_USUAL);
    store_relaxed(&record->pause, AUTO_TRIES);
    store_relaxed(&record->left, AUTO_TRIES);
}

/* An epoch of this kind is over. */
static inline void auto_end_epoch(struct lock *lock, struct auto_record *record,
                                  uint32_t kind, uint32_t rate, bool contended)
{
    if (kind == AUTO_SETTLING)
        store_relaxed(&record->kind, AUTO_USUAL);
    else if (kind == AUTO_ENTRY)
        store_relaxed(&record->kind, AUTO_TRIAL);
    else if (kind == AUTO_TRIAL)
        auto_judge(lock, record, rate);
    else if (kind == AUTO_PROOF)
        auto_prove(lock, record, rate);
    else
        auto_consider(lock, record, rate, contended);
}

static inline bool auto_in_trial(const struct auto_record *record)
{
    return load_relaxed(&record->kind) >= AUTO_ENTRY;
}

/* Returns whether the policy on trial is far worse than the usual one. */
static inline bool auto_is_hopeless(const struct auto_record *record, uint64_t ns,
                                    uint64_t rate)
{
    uint32_t usual = load_relaxed(&record->rate);
    return auto_in_trial(record) && ns >= AUTO_EPOCH_NS / 8 &&
           rate < usual - usual / 4;
}

static __attribute__((noinline, unused)) void auto_look(struct lock *lock)
{
    struct auto_record *record = auto_record_of(lock);
    uint64_t now = now_ns(), since = load_relaxed(&record->since);
    uint32_t count = load_relaxed(auto_count(lock));
    bool mine = load_relaxed(&record->lock) == (uintptr_t)lock;
    uint32_t kind = load_relaxed(&record->kind);
    uint64_t length = kind >= AUTO_SETTLING ? AUTO_EPOCH_NS / 2 : AUTO_EPOCH_NS;
    uint32_t uses = count - load_relaxed(&record->count);
    uint64_t rate = ((uint64_t)uses << 20) / (now - since + 1);
    if (mine && auto_is_hopeless(record, now - since, rate))
        kind = AUTO_TRIAL;
    else if (mine && now - since < length)
        return;
    uint32_t waits = load_relaxed(auto_waits(lock));
    store_relaxed(&record->since, now);
    store_relaxed(&record->count, count);
    store_relaxed(auto_waits(lock), 0);
    if (!mine) {
        auto_begin(lock, record);
        return;
    }
    bool often = waits >= (now - since) / AUTO_WAIT_NS;
    auto_end_epoch(lock, record, kind, (uint32_t)rate, often || waits >= uses / 16);
}

/* Called after every AUTO_USES_TRIED uses; the lock has been used `count` times. */
static inline void auto_look_again(struct lock *lock, uint32_t count)
{
    if (count % AUTO_USES == 0 || auto_in_trial(auto_record_of(lock)))
        auto_look(lock);
}

/* The holder is about to release the lock, which is not biased. If no thread had to
 * wait for long, the policy may be why: waiters sleep, or wait for a CPU. So holders
 * that did not wait look, too. */
static inline void auto_count_use(struct lock *lock)
{
    uint32_t waits = load_relaxed(auto_waits(lock));
    if (unlikely(waits & AUTO_TRIED)) {
        store_relaxed(auto_waits(lock), waits & ~AUTO_TRIED);
        return;
    }
    uint32_t count = load_relaxed(auto_count(lock)) + 1;
    store_relaxed(auto_count(lock), count);
    if (unlikely(count % AUTO_USES_TRIED == 0) && HANDOVER_LIMIT > 1)
        auto_look_again(lock, count);
}

/* Called by a holder that had to wait. */
static inline void auto_adapt(struct lock *lock)
{
    uint32_t waits = load_relaxed(auto_waits(lock)) + 1;
    store_relaxed(auto_waits(lock), waits);
    if (HANDOVER_LIMIT == 1) /* model checker: every second time, the lock is open */
        auto_choose(lock, waits % 2 ? 1 + waits / 2 % (AUTO_POLICIES - 1) : 0);
    else if (auto_is_exclusive(lock) || waits % AUTO_SAMPLE == 0)
        auto_look(lock);
}

#endif
