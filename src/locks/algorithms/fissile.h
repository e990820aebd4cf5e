/* SPDX-License-Identifier: MIT */
/*
 * Fissile lock. D. Dice, A. Kogan, "Fissile locks", arXiv 2020.
 *
 * Idea: a test-and-set lock while there is little contention, a NUMA-aware queue when
 * there is much: the latch and its alpha as in outer_latch.h, over the queue of cna.h.
 * In the paper the alpha loses its patience after some time; here releases are counted,
 * so that the number of bypasses is bounded.
 *
 *   tail  of the inner lock: 0 when nobody waits
 *   next  of the inner lock
 *   taken, released  of the latch, as in latch.h
 *   mode  releases of this epoch that somebody queued has seen, and the epoch's number
 *
 * I1. The latch keeps the invariants of outer_latch.h, the queue those of cna.h.
 * I2. A queued thread is overtaken at most FISSILE_BYPASSES times in each of two epochs
 *     and once more at the latch, and HANDOVER_LIMIT times in the queue.
 *
 * Timed lock: in the queue as in mcs.h; the alpha hands the queue over and goes. A
 * grant that comes too late for it is the next alpha's, or free to who finds no queue.
 *
 * Trylock: takes the free latch, whoever is queued; it counts as a bypass.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FISSILE_H
#define HASP_LOCKS_ALGORITHMS_FISSILE_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/outer_latch.h"

/* So that two epochs let through as many as a preferred node may be handed in a row. */
enum { FISSILE_BYPASSES = (HANDOVER_LIMIT + 1) / 2 };

_Static_assert((int)FISSILE_BYPASSES <= (int)OUTER_LATCH_COUNT, "counted in mode");

static inline bool fissile_fast(struct lock *lock)
{
    return outer_latch_fast(lock);
}

static inline bool fissile_trylock(struct lock *lock)
{
    return outer_latch_trylock(lock);
}

static __attribute__((noinline, unused)) bool
fissile_wait(struct lock *lock, const struct deadline *deadline)
{
    static const struct outer_latch kind = {FISSILE_BYPASSES, cna_pick, NULL};
    return outer_latch_wait(lock, &kind, deadline);
}

DEFAULT_LOCK(fissile)

static inline void fissile_unlock(struct lock *lock)
{
    outer_latch_unlock(lock, FISSILE_BYPASSES);
}

static inline void fissile_before_release(struct lock *lock)
{
    outer_latch_before_release(lock);
}

DEFAULT_DESTROY(fissile)

#endif
