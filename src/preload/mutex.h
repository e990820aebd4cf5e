/* SPDX-License-Identifier: MIT */
/* Functions of mutexes that the condition variables use. */
#ifndef HASP_PRELOAD_MUTEX_H
#define HASP_PRELOAD_MUTEX_H

#include "locks/lock.h"

/* Returns whether the calling thread holds the lock. */
static inline bool mutex_held_by_caller(const struct lock *lock)
{
    return load_acquire(&lock->word) != 0 &&
           load_relaxed(&lock->owner) == current_thread();
}

/* Returns EPERM for an error-checking mutex that the caller does not hold, else 0. */
int mutex_check_before_wait(struct lock *lock);

#endif
