/* SPDX-License-Identifier: MIT */
/*
 * The epochs of auto_policy.h: what holders do when one of them is over. First an epoch
 * of the usual policy, then the entry to another one, its trial, and epochs of proof;
 * or, if it was not better, one in which the threads settle again.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_EPOCHS_H
#define HASP_LOCKS_ALGORITHMS_AUTO_EPOCHS_H

#include "locks/algorithms/auto_policy.h"
#include "locks/algorithms/auto_word.h"

static inline void auto_settle(struct lock *lock, struct auto_record *record,
                               uint32_t policy, uint32_t left)
{
    auto_choose(lock, policy % AUTO_POLICIES);
    store_relaxed(&record->kind, AUTO_SETTLING);
    store_relaxed(&record->left, left);
}

/* The trial of a policy was in vain. Once all have been tried, the pauses between
 * trials become longer and longer. Cohorts are left alone for the longest: a trial ends
 * them, and it takes ten epochs or more until all threads are back. */
static inline void auto_give_up(struct lock *lock, struct auto_record *record)
{
    bool all = load_relaxed(&record->tried) % (AUTO_POLICIES - 1) == 0;
    if (auto_policy(lock) == AUTO_COHORTS)
        auto_avoid_cohorts(record, AUTO_TRIES_COHORTS);
    uint32_t pause = load_relaxed(&record->pause);
    if ((all || pause > AUTO_TRIES || load_relaxed(&record->crowded)) &&
        pause < AUTO_TRIES_MOST)
        pause *= 2;
    store_relaxed(&record->pause, pause);
    uint32_t usual = load_relaxed(&record->usual);
    if (usual == AUTO_COHORTS)
        pause *= AUTO_TRIES_COHORTS;
    auto_settle(lock, record, usual, pause);
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
        left = AUTO_TRIES;
        if (auto_policy(lock) == AUTO_COHORTS) {
            store_relaxed(&record->avoided, 0);
            left = auto_cohorts_stay(record, rate) ? AUTO_TRIES_COHORTS : 0;
        }
        store_relaxed(&record->rate, rate);
        /* Above AUTO_TRIES, the pauses double from the first trial in vain on. */
        store_relaxed(&record->pause, left ? 2 * AUTO_TRIES : AUTO_TRIES);
        store_relaxed(&record->left, left);
        store_relaxed(&record->tried, 0);
    }
}

/* The trial of a policy is over. Where exclusive use may be better than cohorts, these
 * need no more proof: it takes long until all threads have left them again. */
static inline void auto_judge(struct lock *lock, struct auto_record *record,
                              uint32_t rate)
{
    uint32_t usual = load_relaxed(&record->usual), policy = auto_policy(lock);
    if (!auto_is_better(policy, rate, usual, load_relaxed(&record->rate))) {
        auto_give_up(lock, record);
        return;
    }
    store_relaxed(&record->kind, AUTO_PROOF);
    store_relaxed(&record->left, auto_proofs(policy));
    if (policy == AUTO_COHORTS && !auto_cohorts_stay(record, rate)) {
        store_relaxed(&record->left, 1);
        auto_prove(lock, record, rate);
    }
}

static inline uint32_t auto_other(uint32_t usual, uint32_t tried)
{
    return (usual + 1 + tried % (AUTO_POLICIES - 1)) % AUTO_POLICIES;
}

static inline void auto_try_another(struct lock *lock, struct auto_record *record)
{
    uint32_t usual = auto_policy(lock), tried = load_relaxed(&record->tried), other;
    do {
        other = auto_other(usual, tried++);
    } while (!auto_may_try(record, other));
    if (auto_other(usual, tried) == AUTO_COHORTS && !auto_has_enough_cpus())
        tried++; /* all have been tried */
    store_relaxed(&record->kind, AUTO_ENTRY);
    store_relaxed(&record->usual, usual);
    store_relaxed(&record->tried, tried);
    store_relaxed(&record->crowded, auto_is_crowded(record));
    if (tried % AUTO_FORGET == 0) /* those that sleep for long are not seen at once */
        auto_forget_waiting(record);
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

/* Returns whether the rate of the policy in use has changed much, and keeps it. A
 * change has to last for two epochs, except a rise of an open lock's rate. That rate
 * depends on which threads have a CPU, and the rate of cohorts on how many threads have
 * returned since a trial. For these two the highest rate of recent epochs is kept, and
 * a fall counts only if it is too deep to be explained by that. */
static inline bool auto_has_changed(struct auto_record *record, uint32_t policy,
                                    uint32_t rate)
{
    uint32_t before = load_relaxed(&record->rate), bad = load_relaxed(&record->bad);
    bool open = policy == AUTO_OPEN, varies = open || policy == AUTO_COHORTS;
    bool fallen = rate < (varies ? before / 4 : before - before / 3);
    bool changed = fallen || rate > before + before / 3;
    bool once = changed && !bad && (fallen || (before && !open));
    store_relaxed(&record->bad, once);
    if (once)
        return false;
    uint32_t kept = varies && !fallen ? before - before / 32 : 0;
    store_relaxed(&record->rate, rate > kept ? rate : kept);
    return changed;
}

/* An epoch with the policy in use is over: is it time to try another one? */
static inline void auto_consider(struct lock *lock, struct auto_record *record,
                                 uint32_t rate, bool contended)
{
    uint32_t before = load_relaxed(&record->rate);
    uint32_t left = load_relaxed(&record->left);
    bool open = auto_policy(lock) == AUTO_OPEN;
    if (auto_has_changed(record, auto_policy(lock), rate)) {
        if (rate < before && !open) {
            auto_fall_back(lock, record);
            return;
        }
        uint32_t pause = load_relaxed(&record->pause) / 8 + AUTO_TRIES;
        store_relaxed(&record->pause, pause);
        left = left < pause ? left : pause;
    }
    if (!contended && open && !auto_has_queue(record))
        return;
    if (left)
        store_relaxed(&record->left, left - 1);
    else
        auto_try_another(lock, record);
}

static inline void auto_begin(struct lock *lock, struct auto_record *record)
{
    store_relaxed(&record->lock, (uintptr_t)lock);
    bool at_once = auto_may_try(record, AUTO_COHORTS);
    store_relaxed(&record->rate, 0);
    store_relaxed(&record->bad, 0);
    store_relaxed(&record->tried, 0);
    store_relaxed(&record->avoided, 0);
    store_relaxed(&record->away, 0);
    store_relaxed(&record->kind, at_once ? AUTO_NEW : AUTO_USUAL);
    store_relaxed(&record->pause, AUTO_TRIES);
    store_relaxed(&record->left, at_once ? 0 : AUTO_TRIES);
}

/* Returns whether the threads come to the policy on trial one after another, as they
 * join or leave cohorts. */
static inline bool auto_is_gradual(struct lock *lock, const struct auto_record *record)
{
    bool leaves =
        load_relaxed(&record->usual) == AUTO_COHORTS && auto_is_exclusive(lock);
    return leaves || auto_policy(lock) == AUTO_COHORTS;
}

/* Returns whether threads may still be asleep on the word since the lock was open: each
 * release wakes one of them, which may take longer than a use of the lock. Hardly any
 * waiter of an exclusive lock sleeps there. The first waiter of a shared lock does, so
 * with that policy the sleepers matter only if they may be many. */
static inline bool auto_wakes_sleepers(struct lock *lock,
                                       const struct auto_record *record)
{
    uint32_t policy = auto_policy(lock);
    bool empties = policy == AUTO_EXCLUSIVE ||
                   (policy == AUTO_SHARED && auto_is_crowded(record));
    return load_relaxed(&record->usual) == AUTO_OPEN && empties &&
           load_relaxed(&lock->word) != AUTO_HELD;
}

/* The first part of a trial is over. If the change is gradual, it is repeated until the
 * rate shows that the threads have come, but not often, and not for few threads. */
static inline void auto_enter(struct lock *lock, struct auto_record *record,
                              uint32_t rate)
{
    uint32_t entries = load_relaxed(&record->left);
    bool slowly = auto_is_gradual(lock, record) && auto_has_queue(record) &&
                  rate < load_relaxed(&record->rate);
    uint32_t most = auto_policy(lock) == AUTO_SHARED ? AUTO_ENTRIES_SHARED
                                                     : AUTO_ENTRIES;
    if ((slowly || auto_wakes_sleepers(lock, record)) && entries < most)
        store_relaxed(&record->left, entries + 1);
    else
        store_relaxed(&record->kind, AUTO_TRIAL);
}

/* An epoch of this kind is over. */
static inline void auto_end_epoch(struct lock *lock, struct auto_record *record,
                                  uint32_t kind, uint32_t rate, bool contended)
{
    if (kind == AUTO_SETTLING)
        store_relaxed(&record->kind, AUTO_USUAL);
    else if (kind == AUTO_ENTRY)
        auto_enter(lock, record, rate);
    else if (kind == AUTO_TRIAL)
        auto_judge(lock, record, rate);
    else if (kind == AUTO_PROOF)
        auto_prove(lock, record, rate);
    else
        auto_consider(lock, record, rate, contended);
    if (kind == AUTO_NEW && load_relaxed(&record->kind) == AUTO_NEW)
        store_relaxed(&record->kind, AUTO_USUAL);
}

static inline bool auto_in_trial(const struct auto_record *record)
{
    return load_relaxed(&record->kind) >= AUTO_ENTRY;
}

/* Returns whether the policy on trial is far worse than the usual one. */
static inline bool auto_is_hopeless(struct lock *lock, const struct auto_record *record,
                                    uint64_t ns, uint64_t rate)
{
    uint32_t usual = load_relaxed(&record->rate);
    bool enters =
        load_relaxed(&record->kind) == AUTO_ENTRY && auto_is_gradual(lock, record);
    return auto_in_trial(record) && !enters && ns >= AUTO_EPOCH_NS / 8 &&
           rate < usual - usual / 4;
}

static __attribute__((noinline, unused)) void auto_look(struct lock *lock)
{
    struct auto_record *record = auto_record_of(lock);
    uint64_t now = now_ns(), since = load_relaxed(&record->since);
    uint32_t count = auto_uses(lock);
    bool mine = load_relaxed(&record->lock) == (uintptr_t)lock;
    uint32_t kind = load_relaxed(&record->kind);
    uint64_t length = kind >= AUTO_NEW ? AUTO_EPOCH_NS / 2 : AUTO_EPOCH_NS;
    uint32_t uses = (count - load_relaxed(&record->count)) & AUTO_USES_MASK;
    uint64_t rate = ((uint64_t)uses << 20) / (now - since + 1);
    if (mine && auto_is_hopeless(lock, record, now - since, rate))
        kind = AUTO_TRIAL;
    else if (mine && now - since < length)
        return;
    uint32_t waits = auto_waits(lock);
    store_relaxed(&record->since, now);
    store_relaxed(&record->count, count);
    auto_forget_waits(lock);
    if (!mine) {
        auto_begin(lock, record);
        return;
    }
    bool often = waits >= (now - since) / AUTO_WAIT_NS;
    auto_end_epoch(lock, record, kind, (uint32_t)rate, often || waits >= uses / 16);
}

/* Returns whether AUTO_USES uses probably take longer than an epoch. */
static inline bool auto_is_slow(const struct auto_record *record)
{
    return load_relaxed(&record->rate) < AUTO_FAST && auto_has_enough_cpus();
}

/* Called after every AUTO_USES_TRIED uses; the lock has been used `count` times. */
static inline void auto_look_again(struct lock *lock, uint32_t count)
{
    const struct auto_record *record = auto_record_of(lock);
    if (count % AUTO_USES == 0 || auto_in_trial(record) || auto_is_slow(record))
        auto_look(lock);
}

/* The holder is about to release the lock, which is not biased. If no thread had to
 * wait for long, the policy may be why: waiters sleep, or wait for a CPU. So holders
 * that did not wait look, too. Returns false if the lock is held by a node. */
static inline bool auto_count_use(struct lock *lock)
{
    uint32_t seen = load_relaxed(auto_counts(lock));
    if (unlikely(seen & (AUTO_TRIED | AUTO_BY_NODE))) {
        if (seen & AUTO_TRIED)
            store_relaxed(auto_counts(lock), seen & ~(uint32_t)AUTO_TRIED);
        return !(seen & AUTO_BY_NODE);
    }
    uint32_t now = seen + (1u << AUTO_USES_SHIFT);
    store_relaxed(auto_counts(lock), now);
    if (unlikely((now >> AUTO_USES_SHIFT) % AUTO_USES_TRIED == 0) && !MODEL_CHECKED)
        auto_look_again(lock, now >> AUTO_USES_SHIFT);
    return true;
}

/* A cohort is about to release the lock, after so many uses. `crowded`: threads
 * outnumber CPUs. Then a thread that waits for a CPU is handed the lock again and
 * again, so it becomes open, and cohorts are not tried for long. */
static inline void auto_count_cohort(struct lock *lock, uint32_t uses, bool crowded)
{
    uint32_t count = auto_end_cohort(lock, uses);
    if (crowded && auto_policy(lock) == AUTO_COHORTS) {
        struct auto_record *record = auto_record_of(lock);
        auto_avoid_cohorts(record, AUTO_TRIES_MOST);
        auto_settle(lock, record, AUTO_OPEN, AUTO_TRIES);
        store_relaxed(&record->since, now_ns());
    } else if (!MODEL_CHECKED && count % AUTO_USES_TRIED < uses) {
        auto_look(lock);
    }
}

/* Called by a holder that had to wait. */
static inline void auto_adapt(struct lock *lock)
{
    uint32_t waits = auto_count_wait(lock);
    if (MODEL_CHECKED) /* every second time, the lock is open */
        auto_choose(lock, waits % 2 ? 1 + waits / 2 % (AUTO_POLICIES - 1) : 0);
    else if (auto_is_exclusive(lock) || waits % AUTO_SAMPLE == 0)
        auto_look(lock);
}

#endif
