/* SPDX-License-Identifier: MIT */
#include "library/rwlock.h"

#include "rwlocks/list/descriptor.h"
#include "rwlocks/read_holds.h"

#include <errno.h>
#include <pthread.h>

static struct rwlock_operations operations[RWLOCK_SLOTS];

/* Its destructor gives the record of a thread back. */
static pthread_key_t ending;

static void thread_ends(void *unused)
{
    (void)unused;
    read_holds_give_back();
}

static void thread_begun(void)
{
    pthread_setspecific(ending, &ending);
}

static __attribute__((constructor(103))) void fill(void)
{
    for (unsigned i = 1; i < rwlock_count(); i++)
        operations[i + 1] = rwlock_at(i).operations;
    rwlock_default_slot = rwlock_default + 1;
    operations[0] = operations[rwlock_default_slot];
    if (pthread_key_create(&ending, thread_ends) == 0)
        read_holds_begun = thread_begun;
    pthread_atfork(NULL, NULL, read_holds_in_child);
}

static const struct rwlock_operations *operations_of(const struct rwlock *lock)
{
    return &operations[load_relaxed(&lock->algorithm)];
}

int rwlock_slot(const char *name)
{
    int index = name ? rwlock_find(name) : (int)rwlock_default;
    return index > 0 ? index + 1 : -1;
}

const char *rwlock_slot_name(uint32_t slot)
{
    return rwlock_at(slot ? slot - 1 : rwlock_default).about.name;
}

int rwlock_enter(struct rwlock *lock, enum rwlock_purpose purpose)
{
    const struct rwlock_operations *by = operations_of(lock);
    return purpose == RWLOCK_TO_READ ? by->read_lock(lock) : by->write_lock(lock);
}

int rwlock_try(struct rwlock *lock, enum rwlock_purpose purpose)
{
    const struct rwlock_operations *by = operations_of(lock);
    return purpose == RWLOCK_TO_READ ? by->read_trylock(lock) : by->write_trylock(lock);
}

int rwlock_leave(struct rwlock *lock, enum rwlock_purpose purpose)
{
    const struct rwlock_operations *by = operations_of(lock);
    return purpose == RWLOCK_TO_READ ? by->read_unlock(lock) : by->write_unlock(lock);
}

int rwlock_leave_either(struct rwlock *lock)
{
    return operations_of(lock)->unlock(lock);
}

int rwlock_give_up(struct rwlock *lock)
{
    return operations_of(lock)->destroy(lock);
}

int rwlock_enter_until(struct rwlock *lock, enum rwlock_purpose purpose,
                       clockid_t clock, const struct timespec *at)
{
    const struct rwlock_operations *by = operations_of(lock);
    const struct deadline deadline = {clock, *at};
    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || at->tv_nsec < 0 ||
        at->tv_nsec >= 1000000000)
        return EINVAL;
    return purpose == RWLOCK_TO_READ ? by->read_timedlock(lock, &deadline)
                                     : by->write_timedlock(lock, &deadline);
}
