/* SPDX-License-Identifier: MIT */
/*
 * The state of a CLH lock (see clh.h), and how a thread waits for a holder that has a
 * number instead of a waiter.
 */
#ifndef HASP_LOCKS_ALGORITHMS_CLH_NUMBER_H
#define HASP_LOCKS_ALGORITHMS_CLH_NUMBER_H

#include "locks/waiting/policies.h"

/* The bits of the cell, and the step from one number to the next. */
enum { CLH_PARKED = 1, CLH_NODE = 2, CLH_NUMBER = 4 };

struct clh {
    struct atomic_u32 tail, cell;
};

static inline struct clh *clh_of(struct lock *lock)
{
    return (struct clh *)lock->state;
}

/* Returns the name, as stored in the tail, of the waiter with this id. */
static inline uint32_t clh_name(uint32_t id)
{
    return id * 2 + 1;
}

/* Returns the waiter with this name, or NULL if the name is a number. */
static inline struct waiter *clh_named(uint32_t name)
{
    return name % 2 ? waiter_at(name / 2) : NULL;
}

/* Returns the last number released. */
static inline uint32_t clh_number(struct clh *clh)
{
    return load_relaxed(&clh->cell) & ~(uint32_t)(CLH_PARKED | CLH_NODE);
}

/* Called by the holder, when it begins to hold by a node. No thread waits for a number
 * meanwhile. */
static inline void clh_set_node(struct clh *clh)
{
    store_relaxed(&clh->cell, load_relaxed(&clh->cell) | CLH_NODE);
}

/* Called by the holder that has a node, before its release. */
static inline uint32_t clh_clear_node(struct clh *clh)
{
    uint32_t number = clh_number(clh);
    store_relaxed(&clh->cell, number);
    return number;
}

/* Waits until `number` is released; returns false if the deadline has passed. */
static inline bool clh_wait_for_number(struct clh *clh, struct waiter *self,
                                       uint32_t number, enum waiting waiting,
                                       const struct deadline *deadline)
{
    struct atomic_u32 *cell = &clh->cell;
    struct spinner spinner = {0, 0};
    uint32_t spins = spin_limit(), seen;
    while (((seen = load_acquire(cell)) & ~(uint32_t)CLH_PARKED) != number && spins) {
        if (waiting == SPIN_PREFETCH)
            prefetch_for_write(cell);
        if (!(may_park(waiting) ? spinner_spin_within(&spinner, &spins, deadline)
                                : spinner_spin(&spinner, deadline)))
            return false;
    }
    if (!may_park(waiting))
        return true;
    store_relaxed(&self->asleep, 1);
    while (((seen = load_acquire(cell)) & ~(uint32_t)CLH_PARKED) != number) {
        if (!(seen & CLH_PARKED) &&
            !compare_exchange_relaxed(cell, &seen, seen | CLH_PARKED))
            continue;
        if (!park(cell, seen | CLH_PARKED, deadline))
            return (load_acquire(cell) & ~(uint32_t)CLH_PARKED) == number;
    }
    return true;
}

#endif
