/* SPDX-License-Identifier: MIT */
/* Functions of mutexes that the condition variables use. */
#ifndef HASP_PRELOAD_MUTEX_H
#define HASP_PRELOAD_MUTEX_H

#include "locks/waiting/held_nodes.h"

/* Returns whether the calling thread holds the lock. If the kind of the mutex does not
 * check the owner, false may be wrong: the thread's cache may have lost the node. */
static inline bool mutex_held_by_caller(const struct lock *lock)
{
    if (load_acquire(&lock->word) == 0)
        return false;
    uint32_t owner = load_relaxed(&lock->owner);
    return owner == current_thread() ||
           (owner == OWNER_IN_NODE && held_nodes_have(lock));
}

/* Returns EPERM for an error-checking mutex that the caller does not hold, else 0. */
int mutex_check_before_wait(struct lock *lock);

#endif
