/* SPDX-License-Identifier: MIT */
/*
 * The clock and the versioned locks of a transactional memory: D. Dice, O. Shalev,
 * N. Shavit, "Transactional locking II", DISC 2006. Its clock is GV1 there; the bit
 * that closes it is ours.
 *
 * Each stripe of memory has a lock word:
 *
 *   below VERSION_LOCKED   the version: the time of the last commit that wrote to it
 *   from VERSION_LOCKED    the address of the transaction that commits writes to it
 *
 * so that one comparison with a time tells whether a stripe is free and old enough.
 *
 * Times are even. The clock's lowest bit is set while it is CLOSED: one transaction
 * runs alone, and no other may commit writes (attempt.c).
 *
 * I1. A commit locks all its stripes, then takes its time from the clock, then checks
 *     what it has read, writes, and releases the stripes with its time as version.
 * I2. A transaction that has read time t from the clock sees the locks, or what was
 *     released, of every commit whose time is at most t: the releases of clock_tick
 *     and clock_open pair with the acquires in clock_now, clock_tick and clock_close,
 *     and every change of the clock is a read-modify-write, which continues the release
 *     sequence.
 * I3. A reader loads the lock, the word, and the lock again. Words are stored with
 *     release, after the lock was taken: a reader that finds the new value also finds
 *     the lock taken, or a newer version.
 * I4. version_release pairs with the acquire in version_read: what the writer did
 *     before it committed happens before everything after a load of its value.
 * I5. version_take's acquire pairs with version_release, so that the values that two
 *     commits store in a word have the order of their times.
 */
#ifndef HASP_STRUCTURES_TRANSACTION_VERSIONS_H
#define HASP_STRUCTURES_TRANSACTION_VERSIONS_H

#include "platform/platform.h"

#define VERSION_LOCKED ((uint64_t)1 << 63)

enum { CLOCK_CLOSED = 1, CLOCK_STEP = 2 };

static inline uint64_t version_read(struct atomic_u64 *lock)
{
    return load_acquire(lock);
}

/* Whether the lock word, read after the word that it guards, is still `version`. */
static inline bool version_is_still(struct atomic_u64 *lock, uint64_t version)
{
    return load_relaxed(lock) == version;
}

/* Locks the stripe if its lock word is `*found`. Otherwise stores what it is there. */
static inline bool version_take(struct atomic_u64 *lock, uint64_t *found,
                                uint64_t owner)
{
    return compare_exchange_acquire(lock, found, owner);
}

/* Also gives a stripe back with the version that it had: who reads that must still see
 * what the commit with this version wrote. */
static inline void version_release(struct atomic_u64 *lock, uint64_t version)
{
    store_release(lock, version);
}

/* Returns the time of a transaction that begins now. */
static inline uint64_t clock_now(struct atomic_u64 *clock)
{
    return load_acquire(clock) & ~(uint64_t)CLOCK_CLOSED;
}

/* Returns the clock before a commit's step, which is closed if another one runs alone;
 * the commit must then give up. */
static inline uint64_t clock_tick(struct atomic_u64 *clock)
{
    return fetch_add_acq_rel(clock, CLOCK_STEP);
}

/* Closes the clock, and returns the time. From now on, no commit gets a time. Those
 * that have one still hold their stripes. */
static inline uint64_t clock_close(struct atomic_u64 *clock)
{
    return fetch_add_acquire(clock, CLOCK_CLOSED);
}

/* Opens the clock for others, and returns the time of the commit of the transaction
 * that closed it. */
static inline uint64_t clock_open(struct atomic_u64 *clock)
{
    return fetch_add_release(clock, CLOCK_CLOSED) + CLOCK_CLOSED;
}

#endif
