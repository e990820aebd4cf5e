/* SPDX-License-Identifier: MIT */
/*
 * Tells threads that try a lock before they wait for it from threads that only try.
 *
 * Locks that choose by measurement count acquisitions. A thread that calls trylock in a
 * loop never waits, so it acquires the lock most often while the others wait: its
 * acquisitions must not count. But many programs call lock() only after a trylock has
 * failed, and their acquisitions by trylock are uses as any other.
 */
#ifndef HASP_LOCKS_WAITING_WAITED_FOR_H
#define HASP_LOCKS_WAITING_WAITED_FOR_H

#include "locks/lock.h"

/* The caller has to wait for this lock. */
static inline void note_wait_for(const struct lock *lock)
{
    if (!MODEL_CHECKED)
        store_relaxed(&held_nodes()->waited, (uint32_t)(uintptr_t)lock);
}

/* Returns whether this is the lock that the caller had to wait for last. */
static inline bool waited_for(const struct lock *lock)
{
    return load_relaxed(&held_nodes()->waited) == (uint32_t)(uintptr_t)lock;
}

/* The caller has found this lock held, and does not wait for it. */
static inline void note_try_of(const struct lock *lock)
{
    if (!MODEL_CHECKED)
        store_relaxed(&held_nodes()->waited, (uint32_t)(uintptr_t)lock + 1);
}

static inline void forget_try(void)
{
    store_relaxed(&held_nodes()->waited, 0);
}

/* Returns whether the caller's last trylock found this lock held. */
static inline bool tried_in_vain(const struct lock *lock)
{
    return !MODEL_CHECKED &&
           load_relaxed(&held_nodes()->waited) == (uint32_t)(uintptr_t)lock + 1;
}

#endif
