/* SPDX-License-Identifier: MIT */
/* Reader-writer locks whose algorithm is chosen when the program runs. */
#ifndef HASP_LIBRARY_RWLOCK_H
#define HASP_LIBRARY_RWLOCK_H

#include "rwlocks/rwlock.h"

enum rwlock_purpose { RWLOCK_TO_READ, RWLOCK_TO_WRITE };

/* Returns the slot of an algorithm, or -1 if the name is unknown. */
int rwlock_slot(const char *name);

/* Returns the name of the algorithm of a slot. */
const char *rwlock_slot_name(uint32_t slot);

/* Each returns what the operation of the lock's algorithm returns. */
int rwlock_enter(struct rwlock *lock, enum rwlock_purpose purpose);
int rwlock_try(struct rwlock *lock, enum rwlock_purpose purpose);
int rwlock_leave(struct rwlock *lock, enum rwlock_purpose purpose);
int rwlock_leave_either(struct rwlock *lock);
int rwlock_give_up(struct rwlock *lock);

/* Returns what the operation returns, or EINVAL for an invalid clock or time. */
int rwlock_enter_until(struct rwlock *lock, enum rwlock_purpose purpose,
                       clockid_t clock, const struct timespec *at);

#endif
