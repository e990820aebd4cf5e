/* SPDX-License-Identifier: MIT */
/*
 * Partitioned ticket lock. D. Dice, "Brief announcement: a partitioned ticket lock",
 * SPAA 2011. With a slot for each waiter it is the array lock: T. Anderson, "The
 * performance of spin lock alternatives for shared-memory multiprocessors", IEEE TPDS
 * 1(1), 1990. A slot holds a number instead of a flag, so that there may be more
 * threads than slots.
 *
 * Idea: a ticket lock that announces each number in a slot with its own cache line,
 * number modulo slots: a release disturbs only one or a few waiters. The slots are
 * outside the mutex and are created by the first waiter; until then the lock is a plain
 * ticket lock.
 *
 *   next, serving, left  as in ticket.h
 *   directory  of the slots (side_memory.h), 0 until a thread waits
 *   slot  the last number served of those that map to it
 *   flag  in the directory: numbers are announced in the slots from now on
 *
 * I1. The flag is set by a holder that finds all slots present, after it has filled
 *     them with its own number, for which no thread waits any more; it is never
 *     cleared.
 * I2. A number is announced once: by the store of `serving` before the flag is set, and
 *     afterwards by the store of its slot, which follows the store of `serving`. The
 *     store of `serving` is the release (it pairs with the load in tickets_served); the
 *     store of the slot only shows that the releaser no longer touches the lock.
 * I3. A thread that finds its number in `serving` reads the flag. If the number is to
 *     be announced in its slot, the flag was set before `serving` was stored (release,
 *     acquire), and so is visible.
 *
 * Timed lock: as in ticket.h.
 */
#ifndef HASP_LOCKS_ALGORITHMS_PARTITIONED_H
#define HASP_LOCKS_ALGORITHMS_PARTITIONED_H

#include "locks/algorithms/ticket.h"
#include "locks/memory/side_memory.h"

/* Number of spins on a slot before the tokens in the lock are checked again. It is far
 * more than a queue of dozens of waiters takes, because otherwise handovers would wait
 * for the checks of all waiters. */
enum { SLOT_PATIENCE = CLOCK_SPINS * CLOCK_SPINS * ((CLOCK_SPINS + 3) / 4) };

/* The range of a lock's slots in its directory. */
struct slots {
    uint32_t first, count;
};

static inline struct atomic_u32 *slots_directory(struct lock *lock)
{
    return &lock->state[3];
}

/* Returns the directory once numbers are announced in slots, otherwise NULL. */
static inline struct side_block *slots_in_use(struct lock *lock)
{
    uint32_t id = load_acquire(slots_directory(lock));
    if (likely(!id))
        return NULL;
    struct side_block *directory = side_block_at(id);
    return load_acquire(&directory->words[SIDE_FLAG]) & SIDE_IN_USE ? directory : NULL;
}

static inline struct atomic_u32 *slots_at(struct side_block *directory, uint32_t index)
{
    return &side_block_at(load_relaxed(&directory->words[index]))->words[0];
}

static inline struct atomic_u32 *slots_of(struct side_block *directory, uint32_t number,
                                          struct slots slots)
{
    return slots_at(directory, slots.first + number % slots.count);
}

static inline __attribute__((always_inline)) bool
slots_served(struct lock *lock, uint32_t number, struct slots slots)
{
    if (!tickets_served(lock, number))
        return false;
    struct side_block *directory = slots_in_use(lock);
    return likely(!directory) ||
           load_relaxed(slots_of(directory, number, slots)) == number;
}

/* The holder starts using the slots if all are present. */
static inline struct side_block *slots_start(struct lock *lock, struct slots slots)
{
    uint32_t last = slots.first + slots.count - 1;
    if (!side_memory_find(slots_directory(lock), last))
        return NULL;
    struct side_block *directory = side_block_at(load_relaxed(slots_directory(lock)));
    uint32_t mine = load_relaxed(&tickets_of(lock)->serving);
    for (uint32_t i = slots.first; i <= last; i++)
        store_relaxed(slots_at(directory, i), mine);
    fetch_or_release(&directory->words[SIDE_FLAG], SIDE_IN_USE);
    return directory;
}

static __attribute__((noinline, unused)) void
slots_serve(struct lock *lock, uint32_t number, struct slots slots)
{
    struct side_block *directory = slots_in_use(lock);
    if (!directory)
        directory = slots_start(lock, slots);
    if (directory) {
        struct atomic_u32 *slot = slots_of(directory, number, slots);
        store_release(&tickets_of(lock)->serving, number);
        store_relaxed(slot, number);
    } else {
        store_release(&tickets_of(lock)->serving, number);
    }
    release_window();
}

/* Creates the last slot last: slots_start() takes it as proof that all are present. */
static inline void slots_make(struct lock *lock, struct slots slots)
{
    uint32_t last = slots.first + slots.count - 1;
    if (side_memory_find(slots_directory(lock), last) || side_memory_scarce())
        return;
    for (uint32_t i = slots.first; i <= last; i++)
        side_memory_get(slots_directory(lock), i);
}

static inline bool slots_spin(struct lock *lock, uint32_t number, struct slots slots,
                              struct spinner *spinner, const struct deadline *deadline)
{
    struct side_block *directory = slots_in_use(lock);
    if (!directory) {
        slots_make(lock, slots);
        return spinner_spin(spinner, deadline);
    }
    struct atomic_u32 *slot = slots_of(directory, number, slots);
    /* Spins briefly first, because afterwards only the slot is checked. */
    if (!spinner_spin_many(spinner, 2, deadline))
        return false;
    uint32_t left = SLOT_PATIENCE;
    while (left && load_relaxed(slot) != number)
        if (!spinner_spin_within(spinner, &left, deadline))
            return false;
    return true;
}

/* Defines the functions that DEFINE_TICKET_LOCK requires, and the lock. */
#define DEFINE_PARTITIONED_LOCK(prefix, where, how_many)                               \
    static const struct slots prefix##_slots = {where, how_many};                      \
    static inline bool prefix##_served(struct lock *lock, uint32_t number)             \
    {                                                                                  \
        return slots_served(lock, number, prefix##_slots);                             \
    }                                                                                  \
    static inline void prefix##_serve(struct lock *lock, uint32_t number)              \
    {                                                                                  \
        if (likely(!load_relaxed(slots_directory(lock))))                              \
            ticket_serve(lock, number);                                                \
        else                                                                           \
            slots_serve(lock, number, prefix##_slots);                                 \
    }                                                                                  \
    static inline bool prefix##_spin(struct lock *lock, uint32_t number,               \
                                     struct spinner *spinner,                          \
                                     const struct deadline *deadline)                  \
    {                                                                                  \
        return slots_spin(lock, number, prefix##_slots, spinner, deadline);            \
    }                                                                                  \
    DEFINE_TICKET_LOCK(prefix, prefix##_served, 1, true)                               \
    static inline void prefix##_destroy(struct lock *lock)                             \
    {                                                                                  \
        tickets_destroy(lock);                                                         \
        side_memory_free(slots_directory(lock));                                       \
    }

DEFINE_PARTITIONED_LOCK(partitioned, SIDE_BLOCKS_MAX, SIDE_SLOTS)

#endif
