/* SPDX-License-Identifier: MIT */
/*
 * The choice of a policy for auto.h: shared or exclusive, by measurement.
 *
 * Holders that had to wait compare how many acquisitions a second each policy reaches.
 * The current one is measured all the time; the other one is tried now and then for one
 * epoch, and at once if the rate has changed much. A lock with few waits is shared.
 *
 *   state[2]  acquisitions since the lock was first contended
 *   state[3]  those among them that had to wait, in this epoch
 *   auto_records[]  by a hash of the lock's address: the epoch's start, the rate of the
 *             policy in use, and when to try the other one. Locks that share a record
 *             restart each other's epochs; that costs precision only
 *
 * P1. The cells are written by holders only, but locks may share a record, so nothing
 *     that is read here may matter for exclusion or progress.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_POLICY_H
#define HASP_LOCKS_ALGORITHMS_AUTO_POLICY_H

#include "locks/algorithms/futex.h"

/* In lock->mode, beside FUTEX_SHARED, which stands for the end of the bias: one thread
 * at a time uses the lock, for a slice. */
enum { AUTO_EXCLUSIVE = 2 };

enum {
    AUTO_RECORDS = 512,
    AUTO_EPOCH_NS = HANDOVER_LIMIT * 6250, /* at least */
    AUTO_SAMPLE = HANDOVER_LIMIT / 4 + 1,  /* waits between two looks at the clock */
    AUTO_TRIES = 1,                        /* epochs before the first try */
    AUTO_TRIES_MOST = 32,
};

struct auto_record {
    struct atomic_u64 lock;
    struct atomic_u64 since; /* ns; start of the epoch */
    struct atomic_u32 count; /* state[2] at that time */
    struct atomic_u32 rate;  /* of the policy in use: acquisitions in 2^20 ns */
    struct atomic_u32 trial; /* 1: this epoch tries the other policy */
    struct atomic_u32 pause; /* epochs between two trials */
    struct atomic_u32 left;  /* epochs until the next trial */
} __attribute__((aligned(64)));

extern struct auto_record auto_records[AUTO_RECORDS]
    __attribute__((visibility("hidden")));

static inline struct atomic_u32 *auto_count(struct lock *lock)
{
    return &lock->state[2];
}

static inline bool auto_is_exclusive(struct lock *lock)
{
    return load_relaxed(&lock->mode) & AUTO_EXCLUSIVE;
}

static inline struct auto_record *auto_record_of(const struct lock *lock)
{
    uintptr_t address = (uintptr_t)lock;
    return &auto_records[(address >> 3 ^ address >> 12) % AUTO_RECORDS];
}

static inline void auto_toggle(struct lock *lock)
{
    uint8_t mode = load_relaxed(&lock->mode);
    store_release(&lock->mode, (uint8_t)(mode ^ AUTO_EXCLUSIVE)); /* see auto.h */
}

/* The trial of a policy is over: keeps the better one. Exclusive use has to be clearly
 * better, because it makes threads wait for longer. */
static inline void auto_judge(struct lock *lock, struct auto_record *record,
                              uint32_t rate)
{
    uint32_t before = load_relaxed(&record->rate);
    bool exclusive = auto_is_exclusive(lock);
    uint32_t shared_rate = exclusive ? before : rate;
    bool exclusive_wins = (exclusive ? rate : before) > shared_rate + shared_rate / 8;
    store_relaxed(&record->trial, 0);
    uint32_t pause = AUTO_TRIES;
    if (exclusive == exclusive_wins) {
        store_relaxed(&record->rate, rate);
    } else {
        auto_toggle(lock);
        pause = 2 * load_relaxed(&record->pause);
        if (pause > AUTO_TRIES_MOST)
            pause = AUTO_TRIES_MOST;
    }
    store_relaxed(&record->pause, pause);
    store_relaxed(&record->left, pause);
}

/* An epoch with the policy in use is over: is it time to try the other one? */
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
    if (!contended && !auto_is_exclusive(lock))
        return;
    if (left) {
        store_relaxed(&record->left, left - 1);
        return;
    }
    store_relaxed(&record->trial, 1);
    auto_toggle(lock);
}

static __attribute__((noinline, unused)) void auto_look(struct lock *lock)
{
    struct auto_record *record = auto_record_of(lock);
    uint64_t now = now_ns(), since = load_relaxed(&record->since);
    uint32_t count = load_relaxed(auto_count(lock));
    bool mine = load_relaxed(&record->lock) == (uintptr_t)lock;
    if (mine && now - since < AUTO_EPOCH_NS)
        return;
    uint32_t uses = count - load_relaxed(&record->count);
    uint32_t waits = load_relaxed(&lock->state[3]);
    store_relaxed(&record->since, now);
    store_relaxed(&record->count, count);
    store_relaxed(&lock->state[3], 0);
    if (!mine) {
        store_relaxed(&record->lock, (uintptr_t)lock);
        store_relaxed(&record->rate, 0);
        store_relaxed(&record->trial, 0);
        store_relaxed(&record->pause, AUTO_TRIES);
        store_relaxed(&record->left, AUTO_TRIES);
        return;
    }
    uint64_t rate = ((uint64_t)uses << 20) / (now - since + 1);
    if (load_relaxed(&record->trial))
        auto_judge(lock, record, (uint32_t)rate);
    else
        auto_consider(lock, record, (uint32_t)rate, waits >= uses / 8);
}

/* Called by a holder that had to wait. */
static inline void auto_adapt(struct lock *lock)
{
    uint32_t waits = load_relaxed(&lock->state[3]) + 1;
    store_relaxed(&lock->state[3], waits);
    if (HANDOVER_LIMIT == 1)
        auto_toggle(lock); /* model checker: the policy changes all the time */
    else if (auto_is_exclusive(lock) || waits % AUTO_SAMPLE == 0)
        auto_look(lock);
}

#endif
