/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reader-writer locks with any algorithm of `hasp list --kind rwlock`, chosen at run
 * time.
 *
 * What <hasp/mutex.h> says about memory order, fork and errors is true here, too.
 * Acquiring for reading or writing is an acquire operation, releasing a release
 * operation. A lock has 56 bytes; zeroed memory is a free one with the default
 * algorithm. A thread that holds a lock for reading may read-lock it again, also while
 * a writer waits; it must not write-lock it (it would wait for itself).
 */
#ifndef HASP_RWLOCK_H
#define HASP_RWLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#include "library/rwlock.h"
#include "platform/linkage.h"
#include "platform/native/sanitizer.h"

/** A reader-writer lock. */
struct hasp_rwlock {
    struct rwlock lock; /**< private */
};

/* clang-format off */
#define HASP_RWLOCK_INITIALIZER {0}
/* clang-format on */

/** Makes the memory a free lock with the algorithm of this name, as in
 * `hasp list --kind rwlock`; also "bravo+NAME", whose readers do not write to the lock,
 * and "mutex:NAME", the mutex algorithm NAME. NULL selects the default, bravo+rw-futex.
 * @return 0, or EINVAL if there is no such algorithm; "glibc" is not one of them */
static inline int hasp_rwlock_init(struct hasp_rwlock *lock, const char *name)
{
    const struct hasp_rwlock none = HASP_RWLOCK_INITIALIZER;
    const int slot = rwlock_slot(name);
    if (slot < 0)
        return EINVAL;
    *lock = none;
    store_relaxed(&lock->lock.algorithm, (uint8_t)slot);
    return 0;
}

/** Destroys the lock, which no thread may be using.
 * @return 0 */
static inline int hasp_rwlock_destroy(struct hasp_rwlock *lock)
{
    return rwlock_give_up(&lock->lock);
}

/** @return the name of the lock's algorithm, a constant */
static inline const char *hasp_rwlock_name(const struct hasp_rwlock *lock)
{
    return rwlock_slot_name(load_relaxed(&lock->lock.algorithm));
}

/** Waits until the caller holds the lock, together with other readers.
 * @return 0, or EDEADLK if the caller holds it for writing */
static inline int hasp_rwlock_read_lock(struct hasp_rwlock *lock)
{
    int result = rwlock_enter(&lock->lock, RWLOCK_TO_READ);
    if (result == 0)
        note_acquired(lock);
    return result;
}

/** Waits until the caller alone holds the lock.
 * @return 0, or EDEADLK if the caller holds it for writing */
static inline int hasp_rwlock_write_lock(struct hasp_rwlock *lock)
{
    int result = rwlock_enter(&lock->lock, RWLOCK_TO_WRITE);
    if (result == 0)
        note_acquired(lock);
    return result;
}

/** @return 0, or EBUSY if the caller would have to wait */
MUST_CHECK static inline int hasp_rwlock_read_trylock(struct hasp_rwlock *lock)
{
    int result = rwlock_try(&lock->lock, RWLOCK_TO_READ);
    if (result == 0)
        note_acquired(lock);
    return result;
}

/** @return 0, or EBUSY if the caller would have to wait */
MUST_CHECK static inline int hasp_rwlock_write_trylock(struct hasp_rwlock *lock)
{
    int result = rwlock_try(&lock->lock, RWLOCK_TO_WRITE);
    if (result == 0)
        note_acquired(lock);
    return result;
}

/** Waits at most until the clock, CLOCK_REALTIME or CLOCK_MONOTONIC, reaches `at`, an
 * absolute time.
 * @return 0, ETIMEDOUT, EDEADLK, or EINVAL for another clock or nanoseconds out of
 * range
 */
MUST_CHECK static inline int hasp_rwlock_read_clocklock(struct hasp_rwlock *lock,
                                                        clockid_t clock,
                                                        const struct timespec *at)
{
    int result = rwlock_enter_until(&lock->lock, RWLOCK_TO_READ, clock, at);
    if (result == 0)
        note_acquired(lock);
    return result;
}

/** Does the same for writing. */
MUST_CHECK static inline int hasp_rwlock_write_clocklock(struct hasp_rwlock *lock,
                                                         clockid_t clock,
                                                         const struct timespec *at)
{
    int result = rwlock_enter_until(&lock->lock, RWLOCK_TO_WRITE, clock, at);
    if (result == 0)
        note_acquired(lock);
    return result;
}

/** hasp_rwlock_read_clocklock() with CLOCK_REALTIME. */
MUST_CHECK static inline int hasp_rwlock_read_timedlock(struct hasp_rwlock *lock,
                                                        const struct timespec *at)
{
    return hasp_rwlock_read_clocklock(lock, CLOCK_REALTIME, at);
}

/** hasp_rwlock_write_clocklock() with CLOCK_REALTIME. */
MUST_CHECK static inline int hasp_rwlock_write_timedlock(struct hasp_rwlock *lock,
                                                         const struct timespec *at)
{
    return hasp_rwlock_write_clocklock(lock, CLOCK_REALTIME, at);
}

/** Releases a lock that is held for reading.
 * @return 0 */
static inline int hasp_rwlock_read_unlock(struct hasp_rwlock *lock)
{
    note_release(lock);
    return rwlock_leave(&lock->lock, RWLOCK_TO_READ);
}

/** Releases a lock that is held for writing.
 * @return 0 */
static inline int hasp_rwlock_write_unlock(struct hasp_rwlock *lock)
{
    note_release(lock);
    return rwlock_leave(&lock->lock, RWLOCK_TO_WRITE);
}

/** Releases a lock, whether the caller holds it for reading or for writing.
 * @return 0 */
static inline int hasp_rwlock_unlock(struct hasp_rwlock *lock)
{
    note_release(lock);
    return rwlock_leave_either(&lock->lock);
}

#endif
