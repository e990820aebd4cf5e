/* SPDX-License-Identifier: MIT */
/*
 * Cells on which threads wait for a phase: spin-then-park. A. Karlin, K. Li, M.
 * Manasse, S. Owicki, "Empirical studies of competitive spinning for a shared-memory
 * multiprocessor", SOSP 1991.
 *
 * A cell holds twice a number that grows; the lowest bit is set while threads may be
 * asleep. A thread waits until the number has reached the one that it waits for, or has
 * passed it: the phase after may be announced before a slow thread has read the cell.
 *
 * C1. cell_reached's load (acquire) pairs with cell_step and cell_announce
 *     (release).
 * C2. A sleeper sets the bit, and the kernel compares the cell with that value before
 *     it puts the thread to sleep; both advance and announce replace the whole cell,
 *     and wake sleepers if the bit was set.
 */
#ifndef HASP_BARRIERS_CELLS_H
#define HASP_BARRIERS_CELLS_H

#include "platform/platform.h"

enum { CELL_SLEEPERS = 1, CELL_STEP = 2, CELL_YIELDS = 4 };

static inline bool cell_reached(uint32_t value, uint32_t wanted)
{
    return (int32_t)((value & ~(uint32_t)CELL_SLEEPERS) - wanted) >= 0;
}

/* Adds one step. Several threads may do so at the same time. Returns whether others may
 * be asleep, which the caller then wakes. */
static inline bool cell_step(struct atomic_u32 *cell)
{
    uint32_t was = load_relaxed(cell);
    while (!compare_exchange_release(cell, &was, (was | CELL_SLEEPERS) + 1)) {
    }
    release_window();
    return was & CELL_SLEEPERS;
}

static inline void cell_advance(struct atomic_u32 *cell)
{
    if (cell_step(cell))
        unpark(cell, INT32_MAX);
}

/* Stores a value without the bit, for one waiter; only one thread at a time does so. */
static inline void cell_announce(struct atomic_u32 *cell, uint32_t value)
{
    if (exchange_release(cell, value) & CELL_SLEEPERS)
        unpark(cell, 1);
}

static inline bool cell_spin(struct atomic_u32 *cell, uint32_t wanted, uint32_t spins)
{
    while (!cell_reached(load_acquire(cell), wanted)) {
        if (!spins)
            return false;
        spins -= relax_at_most(spins);
    }
    return true;
}

/* Waits until the cell has reached `wanted`. If `threads` is more than the CPUs that
 * there are, the others need this one: the thread offers it to them at once. Otherwise
 * it spins for as long as a sleep would cost, and longer the more threads there are:
 * the last one pays for every wake-up while all others wait. */
static inline void cell_await(struct atomic_u32 *cell, uint32_t wanted,
                              uint32_t threads)
{
    bool crowded = threads > cpu_count();
    if (cell_spin(cell, wanted, crowded ? 0 : spin_limit() * (1 + threads / 4)))
        return;
    for (int i = 0; crowded && i < CELL_YIELDS; i++) {
        yield();
        if (cell_reached(load_acquire(cell), wanted))
            return;
    }
    uint32_t seen = load_acquire(cell);
    while (!cell_reached(seen, wanted)) {
        if ((seen & CELL_SLEEPERS) ||
            compare_exchange_relaxed(cell, &seen, seen | CELL_SLEEPERS))
            park(cell, seen | CELL_SLEEPERS, NULL);
        seen = load_acquire(cell);
    }
}

#endif
