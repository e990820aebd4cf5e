/* SPDX-License-Identifier: MIT */
#include "library/mutex.h"

#include "library/operations.h"

#include <errno.h>

/* glibc's entry of the list has no operations: a program that wants a glibc mutex uses
 * pthread_mutex_t. */
static const struct lock_operations *operations[LOCK_SLOTS];

static __attribute__((constructor(101))) void fill(void)
{
    for (unsigned i = 1; i < lock_count; i++)
        operations[i + 1] = lock_operations_at(i);
    operations[0] = operations[lock_default + 1];
}

const struct lock_operations *mutex_operations(uint32_t slot)
{
    return operations[slot];
}

int mutex_slot(const char *name)
{
    int index = name ? lock_find(name) : (int)lock_default;
    return index > 0 ? index + 1 : -1;
}

const char *mutex_slot_name(uint32_t slot)
{
    return lock_at(slot ? slot - 1 : lock_default).name;
}

const char *mutex_listed_name(unsigned index)
{
    return index < lock_count - 1 ? lock_at(index + 1).name : NULL;
}

int mutex_lock_any(struct lock *lock)
{
    return operations[load_relaxed(&lock->algorithm)]->lock(lock);
}

int mutex_trylock_any(struct lock *lock)
{
    return operations[load_relaxed(&lock->algorithm)]->trylock(lock) ? 0 : EBUSY;
}

int mutex_unlock_any(struct lock *lock)
{
    return operations[load_relaxed(&lock->algorithm)]->unlock(lock);
}

int mutex_lock_until(struct lock *lock, uint32_t slot, clockid_t clock,
                     const struct timespec *at)
{
    const struct deadline deadline = {clock, *at};
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (operations[slot]->trylock(lock))
        return 0;
    if (at->tv_nsec < 0 || at->tv_nsec >= 1000000000)
        return EINVAL;
    return operations[slot]->timedlock(lock, &deadline) ? 0 : ETIMEDOUT;
}

int mutex_destroy_in(struct lock *lock, uint32_t slot)
{
    if (load_relaxed(&lock->word) || lock->users)
        return EBUSY;
    operations[slot]->destroy(lock);
    return 0;
}
