/* SPDX-License-Identifier: MIT */
/*
 * A lock of locks.def inside a reader-writer lock, in a side block of the library.
 *
 *   side     id of the block, or of a directory whose first entry it is
 *
 * N1. The block is created at the first contention and freed by destroy. A thread that
 *     releases the inner lock may not have returned when the next one destroys the
 *     outer lock, so destroy acquires the inner lock first. If it cannot, the program
 *     destroys a lock that is held: the block is not given back.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_INNER_MUTEX_H
#define HASP_RWLOCKS_ALGORITHMS_INNER_MUTEX_H

#include "locks/list/descriptor.h"
#include "locks/memory/side_memory.h"
#include "rwlocks/rwlock.h"

/* Without a bias, which depends on the process (locks/algorithms/futex.h). */
const struct lock_operations *inner_mutex_operations(unsigned index)
    __attribute__((visibility("hidden")));

/* Returns the index of the lock of this name. */
unsigned inner_mutex_index(const char *name) __attribute__((visibility("hidden")));

static inline struct lock *inner_mutex_in(struct side_block *block)
{
    return (struct lock *)(void *)block->words;
}

static inline bool inner_mutex_lock(struct lock *inner,
                                    const struct lock_operations *operations,
                                    const struct deadline *deadline)
{
    if (deadline)
        return operations->timedlock(inner, deadline);
    operations->lock(inner);
    return true;
}

#endif
