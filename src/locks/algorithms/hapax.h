/* SPDX-License-Identifier: MIT */
/*
 * Hapax lock. D. Dice, A. Kogan, "Hapax locks: value-based mutual exclusion", PPoPP
 * 2026 (arXiv 2511.14608).
 *
 * Idea: each acquisition has a value that is used only once. An arrival swaps its value
 * in and receives that of its predecessor; when that value has departed, the arrival
 * holds the lock. There are no pointers or nodes. A waiter watches a slot of an array
 * that all locks share, hashed by the predecessor's value. Values are drawn from
 * counters of the process in blocks. In the paper each thread has a block of its own;
 * here the block of the last arrival also serves threads that find the lock free after
 * it.
 *
 *   arrive  value of the last arrival
 *   depart  while held: the holder's value and HELD; otherwise the last value that
 *           departed
 *   mode    as in ticket.h
 *
 * The bits of a value:
 *
 *   owner  8 bits of its thread's id: they choose the slot, so that a thread's releases
 *          store to a line of its own, whichever lock it releases
 *   HELD   0 in the value itself
 *   FAST   its owner found the lock free
 *   step   10 bits: the index in the block
 *   shard  8 bits: the counter that the block was drawn from
 *   count  36 bits: the block
 *
 * I1. The lock is free exactly when arrive == depart.
 * I2. A lock never sees a value twice: a block belongs to one lock (block 0 to every
 *     new lock), and once arrive has passed an index of it, it does not return to
 *     earlier ones, whoever owns the values. So depart takes each value once, by its
 *     owner's release (which pairs with the loads in hapax_fast and hapax_wait), and
 *     exactly one thread has it as its predecessor. (Values would return if one counter
 *     served 2^36 queueing threads while another thread is stopped between its read of
 *     depart and its exchange of arrive; compare L2 of latch.h.) Storing the holder's
 *     value in the lock is Hasp's own: any thread may release.
 * I3. A change of a slot only indicates that depart should be read. In a lock in which
 *     a thread has waited, every release stores to its slot, whether or not it finds a
 *     waiter, because one may just be arriving. The first waiter of a lock can be
 *     missed, so waiters also read depart after a long time.
 *
 * Timed lock: Hasp's own. The last arrival takes its value back: it exchanges arrive
 * from its own value to its predecessor's. Any other waiter leaves a token for its
 * successor ("instead of my value, wait for my predecessor's"), and wakes it. Proof:
 * waiting links the values into a queue; both ways remove one value from it, and the
 * token of a value is used by the one thread that waits for that value. If that thread
 * takes its own value back meanwhile, no thread waits for the token. Then either it
 * finds the token after its exchange, or the leaver finds its own value last again
 * after leaving the token (a fence on both sides); whichever does takes this value
 * back, too.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HAPAX_H
#define HASP_LOCKS_ALGORITHMS_HAPAX_H

#include "locks/algorithms/hapax_tokens.h"
#include "locks/algorithms/hapax_values.h"
#include "locks/algorithms/lock_defaults.h"
#include "locks/memory/fork_repair.h"
#include "locks/memory/handed_body.h"

/* Spin limits between two reads of depart. */
enum { HAPAX_LIMITS = CLOCK_SPINS };

struct hapax {
    struct atomic_u64 arrive, depart;
};

static inline struct hapax *hapax_of(struct lock *lock)
{
    return (struct hapax *)(void *)lock->state;
}

/* In a child, before the repair, threads arrive on the fast path only. So the last
 * arrival belongs to the parent if it was not on the fast path, does not hold the lock
 * and has not departed. */
static inline void hapax_forget(struct lock *lock, bool held)
{
    struct hapax *own = hapax_of(lock);
    uint64_t depart = load_relaxed(&own->depart), last = depart & ~(uint64_t)HAPAX_HELD;
    uint64_t arrive = load_relaxed(&own->arrive);
    if (arrive == last || arrive & HAPAX_FAST)
        return;
    /* This is an exchange because `arrive` may be older than `depart`, which then
     * belongs to a thread that has arrived since. */
    if (compare_exchange_relaxed(&own->arrive, &arrive, last) && !held &&
        depart != last)
        store_relaxed(&own->depart, last);
}

static inline void hapax_before_release(struct lock *lock)
{
    fork_repair_in_child(lock, hapax_forget);
}

/* Acquires the lock if `depart` (acquired by the caller) was the last arrival. */
static inline bool hapax_enter(struct lock *lock, uint64_t depart, uint64_t mine)
{
    struct hapax *own = hapax_of(lock);
    if (single_threaded()) {
        if (load_relaxed(&own->arrive) != depart)
            return false;
        store_relaxed(&own->arrive, mine);
    } else if (!compare_exchange_relaxed(&own->arrive, &depart, mine)) {
        return false;
    }
    store_relaxed(&own->depart, mine | HAPAX_HELD);
    return true;
}

/* The block is used up. */
static __attribute__((noinline, unused)) bool hapax_retry(struct lock *lock,
                                                          uint64_t depart)
{
    return hapax_enter(lock, depart, hapax_draw() | HAPAX_FAST);
}

static inline __attribute__((always_inline)) bool hapax_take(struct lock *lock,
                                                             bool may_draw)
{
    prefetch_for_write(&hapax_of(lock)->arrive);
    uint64_t depart = load_acquire(&hapax_of(lock)->depart);
    if (depart & HAPAX_HELD)
        return false;
    uint64_t mine = hapax_next(depart, current_thread_if_known());
    if (likely(!hapax_is_first(mine)))
        return hapax_enter(lock, depart, mine);
    return may_draw && hapax_retry(lock, depart);
}

static inline bool hapax_fast(struct lock *lock)
{
    return hapax_take(lock, false);
}

static inline bool hapax_trylock(struct lock *lock)
{
    struct hapax *own = hapax_of(lock);
    return load_relaxed(&own->arrive) == load_relaxed(&own->depart) &&
           hapax_take(lock, true);
}

/* Gives up `mine`, which waits for `before`. */
static __attribute__((noinline, unused)) void
hapax_leave(struct lock *lock, uint64_t mine, uint64_t before)
{
    struct hapax *own = hapax_of(lock);
    do {
        uint64_t last = mine;
        if (compare_exchange_relaxed(&own->arrive, &last, before)) {
            fence_seq_cst();
            mine = before; /* it is last now, and may have been given up, too */
        } else {
            hapax_leave_token(lock, mine, before);
            hapax_call(mine);
            fence_seq_cst();
            if (load_relaxed(&own->arrive) != mine)
                return; /* its successor finds the token */
        }
    } while (hapax_take_token(lock, mine, &before));
}

/* Watches the slot of a predecessor that showed `seen`. Returns false if the deadline
 * has passed. */
static inline bool hapax_watch(struct atomic_u64 *slot, uint64_t seen,
                               struct spinner *spinner, const struct deadline *deadline)
{
    uint32_t patience = HAPAX_LIMITS * spin_limit();
    if (!spinner_spin_many(spinner, 2, deadline)) /* from here on, only the slot */
        return false;
    while (patience && load_relaxed(slot) == seen)
        if (!spinner_spin_within(spinner, &patience, deadline))
            return false;
    return true;
}

/* Waits as the successor of `before`; returns false if the deadline has passed. */
static inline __attribute__((always_inline)) bool
hapax_follow(struct lock *lock, uint64_t mine, uint64_t before,
             const struct deadline *deadline)
{
    struct hapax *own = hapax_of(lock);
    struct spinner spinner = {0, 0};
    while (true) {
        struct atomic_u64 *slot = hapax_slot(before);
        uint64_t seen = load_acquire(slot); /* before the reads that it announces */
        if (load_acquire(&own->depart) == before)
            break;
        if (hapax_take_token(lock, before, &before))
            continue;
        if (!hapax_watch(slot, seen, &spinner, deadline)) {
            hapax_leave(lock, mine, before);
            return false;
        }
        prefetch_for_write(&own->depart);
    }
    store_relaxed(&own->depart, mine | HAPAX_HELD);
    return true;
}

static __attribute__((noinline, unused)) bool
hapax_wait(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, hapax_forget);
    uint64_t mine = hapax_draw();
    /* Release: a holder that sees the value sees that its owner may give up. */
    uint64_t before = exchange_release(&hapax_of(lock)->arrive, mine);
    return hapax_follow(lock, mine, before, deadline);
}

/* Arrives without another attempt, and outside a forked child before it records the
 * generation. */
static __attribute__((noinline, unused)) void hapax_queue(struct lock *lock)
{
    bool unforked = !is_forked_child();
    if (!unforked)
        fork_repair_if_due(lock, hapax_forget);
    struct hapax *own = hapax_of(lock);
    uint64_t mine = hapax_draw(), before = exchange_release(&own->arrive, mine);
    bool waits = load_acquire(&own->depart) != before;
    expect_wait(waits);
    if (!waits) {
        store_relaxed(&own->depart, mine | HAPAX_HELD);
        return;
    }
    if (unforked)
        fork_repair_after_queueing(lock);
    hapax_follow(lock, mine, before, NULL);
}

DEFAULT_LOCK(hapax)

/* Releases the lock and its body. */
static inline void hapax_release(struct lock *lock)
{
    struct hapax *own = hapax_of(lock);
    prefetch_for_write(&own->depart);
    uint64_t arrive = load_acquire(&own->arrive); /* sees how its owner waits */
    uint64_t mine = load_relaxed(&own->depart) & ~(uint64_t)HAPAX_HELD;
    bool waited = load_relaxed(&lock->generation) != 0;
    handed_body_release(lock, arrive != mine);
    store_release(&own->depart, mine);
    release_window();
    if (unlikely(waited))
        hapax_call(mine);
}

DEFAULT_DESTROY(hapax)

#endif
