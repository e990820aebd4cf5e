/* SPDX-License-Identifier: MIT */
/*
 * Concurrency restriction around any lock. D. Dice, A. Kogan, "Avoiding scalability
 * collapse by restricting concurrency", EuroSys 2019 (GCR).
 *
 * Idea: of the threads that have to wait, only a few, the active ones, do so in the
 * wrapped lock, and circulate through it. The others are passive: they sleep in a
 * queue. Its first thread (the top) becomes active when the active set has not been
 * full for a while, or when it has waited for long; then it replaces the next thread
 * that leaves the set. The paper counts the holder as active, too, and hooks its
 * release; here a thread leaves the active set once it has acquired, so the fast path
 * and the release are those of the wrapped lock. The paper's top spins; this one checks
 * the set from time to time, with naps in between.
 *
 * In a side block of the lock (gcr_of shows where its id is), created when a thread
 * first has to wait:
 *
 *   admission  bits 0-7 the number of active threads; bit 8 WANTED, the top asks to
 *              replace the next thread that leaves; from bit 16 the number of
 *              departures
 *   granted    1 once the top may replace such a thread; the top sets it back to 0
 *   passive    a whole lock, used as in mcs.h; its holder is the top
 *
 * I1. At most gcr_limit() threads are active, including a top whose request was
 *     granted.
 * I2. An active thread waits only for the wrapped lock: it leaves the active set when
 *     it has acquired, or given up. A holder need not be active to release the lock.
 * I3. WANTED is set by the top only, in one exchange with the check that the set is
 *     full; so one of the threads counted there grants its request. No wake-up is lost.
 * I4. Mutual exclusion does not depend on any of this. The exchange that clears WANTED
 *     (acquire) pairs with the one that set it (release), so that `granted` is set
 *     after an earlier top has cleared it. It publishes nothing else.
 *
 * Timed lock: a passive waiter leaves the queue as in mcs.h. The top withdraws WANTED;
 * if it is already cleared, a grant is on its way, and the top continues to the wrapped
 * lock, whose timed lock gives up at once. A timed top takes no naps, but sets WANTED
 * directly.
 *
 * Note: threads that a condition variable hands over wait in the wrapped lock without
 * being counted. The holder put them there, and no count depends on them.
 */
#ifndef HASP_LOCKS_ALGORITHMS_GCR_H
#define HASP_LOCKS_ALGORITHMS_GCR_H

#include "locks/algorithms/mcs.h"
#include "locks/memory/side_memory.h"

enum { GCR_ACTIVE = 0xff, GCR_WANTED = 1 << 8, GCR_DEPARTURE = 1 << 16 };

enum { GCR_LIMIT = 4 };

/* The top checks again after naps of 50, 100, 200 and 400 microseconds, then asks. So
 * the active set changes about once a millisecond, which is rare compared with
 * acquisitions, and frequent enough that no waiter starves. */
enum { GCR_NAPS = MODEL_CHECKED ? 1 : 4, GCR_NAP_NS = 50000 };

/* The set counts as not full if it has not been full for this fraction of the spin
 * limit. */
enum { GCR_QUIET_PART = 4 };

struct gcr {
    struct lock passive;
    struct atomic_u32 admission, granted;
    struct atomic_u32 next, key; /* only for gcr_by_address() */
};

/* The location in which the wrapper keeps the id of its side block. A lock with a state
 * of at most 12 bytes leaves it the last word of the state. In larger ones that word is
 * usually the lock's directory, which has a spare word after those of its blocks. For
 * the rest, the library finds the block by the lock's address. */
enum gcr_home { GCR_IN_STATE, GCR_IN_DIRECTORY, GCR_BY_ADDRESS };

struct gcr *gcr_by_address(const struct lock *lock);
void gcr_forget_address(const struct lock *lock);

_Static_assert(sizeof(struct gcr) <= sizeof(((struct side_block *)0)->words),
               "fits into a side block");

/* Returns enough threads to keep the lock busy: the next holder, or a few if there are
 * CPUs. */
static inline uint32_t gcr_limit(void)
{
    uint32_t cpus = cpu_count();
    return cpus <= 2 ? 1 : cpus > GCR_LIMIT ? (uint32_t)GCR_LIMIT : cpus - 1;
}

static inline struct atomic_u32 *gcr_cell(struct lock *lock, enum gcr_home where)
{
    struct atomic_u32 *last = &lock->state[3];
    return where == GCR_IN_STATE ? last : &side_block_of(last)->words[SIDE_WRAPPER];
}

static inline struct gcr *gcr_of(struct lock *lock, enum gcr_home where)
{
    if (where == GCR_BY_ADDRESS)
        return gcr_by_address(lock);
    return (struct gcr *)(void *)side_block_of(gcr_cell(lock, where))->words;
}

/* Every thread that is counted or queued belongs to the parent: live threads pass
 * through here first. */
static inline void gcr_forget(struct lock *passive, bool held)
{
    (void)held;
    struct gcr *gcr = (struct gcr *)passive;
    store_relaxed(&mcs_of(passive)->next, 0);
    store_relaxed(&mcs_of(passive)->tail, 0);
    store_relaxed(&gcr->granted, 0);
    store_relaxed(&gcr->admission, 0);
}

static inline bool gcr_full(uint32_t admission)
{
    return (admission & GCR_ACTIVE) >= gcr_limit();
}

static inline bool gcr_join(struct gcr *gcr)
{
    uint32_t seen = load_relaxed(&gcr->admission);
    while (!gcr_full(seen))
        if (compare_exchange_relaxed(&gcr->admission, &seen, seen + 1))
            return true;
    return false;
}

/* The top joins if no thread joins or leaves while it watches. Otherwise the
 * circulating threads keep the lock busy, although each of them is outside the set
 * briefly. */
static inline bool gcr_join_quiet(struct gcr *gcr)
{
    uint32_t before = load_relaxed(&gcr->admission), seen = before;
    for (uint32_t spins = spin_limit() / GCR_QUIET_PART; spins;) {
        if (gcr_full(seen) || seen != before)
            return false;
        spins -= relax_at_most(spins);
        seen = load_relaxed(&gcr->admission);
    }
    return !gcr_full(before) &&
           compare_exchange_relaxed(&gcr->admission, &before, before + 1);
}

/* The top asks to replace the next thread that leaves, or joins if the set is not
 * full. */
static inline bool gcr_ask(struct gcr *gcr, const struct deadline *deadline)
{
    uint32_t seen = load_relaxed(&gcr->admission), after;
    do
        after = gcr_full(seen) ? seen | GCR_WANTED : seen + 1;
    while (!compare_exchange_release(&gcr->admission, &seen, after));
    if (!(after & GCR_WANTED))
        return true;
    while (load_relaxed(&gcr->granted) == 0) {
        if (park(&gcr->granted, 0, deadline))
            continue;
        seen = load_relaxed(&gcr->admission);
        while (seen & GCR_WANTED)
            if (compare_exchange_relaxed(&gcr->admission, &seen,
                                         seen & ~(uint32_t)GCR_WANTED))
                return false;
        spin_until(load_relaxed(&gcr->granted) != 0);
    }
    store_relaxed(&gcr->granted, 0);
    return true;
}

static inline bool gcr_stand_by(struct gcr *gcr, const struct deadline *deadline)
{
    for (uint32_t nap = 0; nap < GCR_NAPS && !deadline; nap++) {
        if (gcr_join_quiet(gcr))
            return true;
        struct deadline end = deadline_after((uint64_t)GCR_NAP_NS << nap);
        park(&gcr->granted, 0, &end); /* no thread wakes it before it has asked */
    }
    return gcr_ask(gcr, deadline);
}

static __attribute__((noinline, unused)) bool
gcr_wait_passive(struct gcr *gcr, const struct deadline *deadline)
{
    struct waiter *node = NULL;
    if (!mcs_fast(&gcr->passive) &&
        !mcs_enter(&gcr->passive, SPIN_THEN_PARK, deadline, &node))
        return false;
    bool active = gcr_stand_by(gcr, deadline);
    mcs_leave(&gcr->passive, node, false); /* the next waiter becomes the top */
    return active;
}

/* A thread that has to wait for the lock becomes active; returns false if the deadline
 * passed first. Circulating threads do not check the queue, which keeps them few. */
static inline bool gcr_enter(struct gcr *gcr, const struct deadline *deadline)
{
    fork_repair_if_due(&gcr->passive, gcr_forget);
    return gcr_join(gcr) || gcr_wait_passive(gcr, deadline);
}

/* Called when the thread has acquired the lock, or given up. */
static inline void gcr_leave(struct gcr *gcr)
{
    uint32_t seen = load_relaxed(&gcr->admission), after;
    do
        after = seen - (seen & GCR_WANTED ? GCR_WANTED : 1) + GCR_DEPARTURE;
    while (!compare_exchange_acquire(&gcr->admission, &seen, after));
    if (unlikely(seen & GCR_WANTED)) {
        store_relaxed(&gcr->granted, 1);
        unpark(&gcr->granted, 1);
    }
}

/* No thread may use the lock any more. */
static inline void gcr_destroy(struct lock *lock, enum gcr_home where)
{
    if (where == GCR_BY_ADDRESS) {
        gcr_forget_address(lock);
    } else if (load_relaxed(&lock->state[3])) { /* otherwise no thread ever waited */
        uint32_t id = exchange_relaxed(gcr_cell(lock, where), 0);
        if (id)
            side_block_give(side_block_at(id));
    }
}

#endif
