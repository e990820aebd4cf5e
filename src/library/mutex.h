/* SPDX-License-Identifier: MIT */
/*
 * Mutexes whose algorithm is chosen when the program runs, and the rare operations of
 * both kinds of mutex. A slot is the algorithm of a mutex, as in lock->algorithm.
 */
#ifndef HASP_LIBRARY_MUTEX_H
#define HASP_LIBRARY_MUTEX_H

#include "locks/lock.h"

/* Returns the slot of an algorithm, or -1 if the name is unknown. */
int mutex_slot(const char *name);

/* Returns the name of the algorithm of a slot. */
const char *mutex_slot_name(uint32_t slot);

/* Returns the name of algorithm `index` of the library, or NULL beyond the last. */
const char *mutex_listed_name(unsigned index);

/* These use the lock's own slot. Each returns 0; trylock also EBUSY. */
int mutex_lock_any(struct lock *lock);
int mutex_trylock_any(struct lock *lock);
int mutex_unlock_any(struct lock *lock);

/* These take the slot as an argument. Returns 0, ETIMEDOUT or EINVAL. */
int mutex_lock_until(struct lock *lock, uint32_t slot, clockid_t clock,
                     const struct timespec *at);

/* Returns 0 or EBUSY. */
int mutex_destroy_in(struct lock *lock, uint32_t slot);

#endif
