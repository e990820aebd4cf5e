/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Mutexes with any algorithm of `hasp list`, and condition variables for them.
 *
 * Compile and link with `pkg-config --cflags --libs hasp`. C11 and C++17; for C++ there
 * is <hasp/mutex.hpp>, too. No preload is needed, and `hasp run` replaces pthread's
 * locks only, not these. <hasp/mutex_implementation.h> takes the place of the library.
 *
 * Two kinds of mutex:
 *
 *   struct hasp_mutex_mcs   The type names the algorithm, mcs here. Lock, trylock and
 *                           unlock are inline: no table, no indirect call. There is one
 *                           type for each algorithm, see the end of this file; `-` in
 *                           names becomes `_`, as in hasp_mutex_mcs_park.
 *   struct hasp_mutex       The program chooses at run time, by hasp_mutex_init().
 *                           Each operation is a call through a table.
 *
 * MEMORY. A mutex has 40 bytes. Memory that is all zero is a free mutex. Some
 * algorithms use more memory once a mutex is contended, from a pool that is never
 * unmapped; hasp_mutex_destroy() returns it there. A mutex must not be copied or moved
 * while a thread uses it. It is not for memory that several processes share.
 *
 * MEMORY ORDER. Acquiring a mutex is an acquire operation, releasing it a release
 * operation: what a thread did before it released a mutex is visible to every thread
 * that acquires it later. A failed trylock or timed lock orders nothing.
 *
 * THREADS. Every function may be called by any thread at any time, except for init and
 * destroy, during which no other thread may use the mutex. As soon as a thread has
 * acquired a mutex, it may release, destroy and unmap it, although the thread that
 * released it before may not have returned yet. A thread must not lock a mutex that it
 * holds (it would wait for ever), and only a holder may unlock one. Any thread may
 * unlock on behalf of the holder. Not for signal handlers.
 *
 * FORK. In the child of fork(), the calling thread holds what it held, and mutexes for
 * which other threads of the parent waited can be used. A mutex that another thread
 * held stays locked, as with pthreads. The same is true after _Fork(), vfork() or
 * clone() only if the child calls exec.
 *
 * ERRORS. Functions return 0 or an error number; they do not set errno.
 */
#ifndef HASP_MUTEX_H
#define HASP_MUTEX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "library/condition.h"
#include "library/mutex.h"
#include "library/mutex_entries.h"
#include "platform/linkage.h"
#include "platform/native/sanitizer.h"

/** A mutex whose algorithm is chosen at run time. Zeroed memory is one with the default
 * algorithm, futex. */
struct hasp_mutex {
    struct lock lock; /**< private */
};

/** Initialises a mutex of any kind: static struct hasp_mutex m =
 * HASP_MUTEX_INITIALIZER; static struct hasp_mutex_mcs n = HASP_MUTEX_INITIALIZER; */
/* clang-format off */
#define HASP_MUTEX_INITIALIZER {0}
/* clang-format on */

/** Makes the memory a free mutex with the algorithm of this name, as in `hasp list`;
 * also "gcr+NAME", which restricts concurrency. NULL selects the default, futex. Case,
 * and the difference of '-' and '_', do not matter.
 * @return 0, or EINVAL if there is no such algorithm; the memory is unchanged then.
 * "glibc" is not one of them: use pthread_mutex_t. */
static inline int hasp_mutex_init(struct hasp_mutex *mutex, const char *name)
{
    const struct hasp_mutex none = HASP_MUTEX_INITIALIZER;
    const int slot = mutex_slot(name);
    if (slot < 0)
        return EINVAL;
    *mutex = none;
    store_relaxed(&mutex->lock.algorithm, (uint8_t)slot);
    return 0;
}

/** @return 0, or EBUSY if the mutex is locked or a thread waits on a condition variable
 * with it. */
static inline int hasp_mutex_destroy(struct hasp_mutex *mutex)
{
    return mutex_destroy_in(&mutex->lock, load_relaxed(&mutex->lock.algorithm));
}

/** @return the name of the mutex's algorithm, a constant. */
static inline const char *hasp_mutex_name(const struct hasp_mutex *mutex)
{
    return mutex_slot_name(load_relaxed(&mutex->lock.algorithm));
}

/** Lists the names that hasp_mutex_init() knows.
 * @return name `index`, counted from 0, a constant; NULL if there are not so many. */
static inline const char *hasp_mutex_name_at(unsigned index)
{
    return mutex_listed_name(index);
}

/** Acquires the mutex; waits as long as another thread holds it. Not a cancellation
 * point.
 * @return 0 */
static inline int hasp_mutex_lock(struct hasp_mutex *mutex)
{
    int result = mutex_lock_any(&mutex->lock);
    note_acquired(mutex);
    return result;
}

/** @return 0 if the caller has acquired the mutex, or EBUSY. It may be EBUSY while the
 * mutex is free if threads wait for it. */
MUST_CHECK static inline int hasp_mutex_trylock(struct hasp_mutex *mutex)
{
    int result = mutex_trylock_any(&mutex->lock);
    if (result == 0)
        note_acquired(mutex);
    return result;
}

/** Waits until the clock reaches `at`, an absolute time.
 * @param clock CLOCK_REALTIME or CLOCK_MONOTONIC
 * @return 0, ETIMEDOUT, or EINVAL for another clock or nanoseconds out of range (which
 * are checked only if the caller has to wait) */
MUST_CHECK static inline int hasp_mutex_clocklock(struct hasp_mutex *mutex,
                                                  clockid_t clock,
                                                  const struct timespec *at)
{
    int result =
        mutex_lock_until(&mutex->lock, load_relaxed(&mutex->lock.algorithm), clock, at);
    if (result == 0)
        note_acquired(mutex);
    return result;
}

/** hasp_mutex_clocklock() with CLOCK_REALTIME. */
MUST_CHECK static inline int hasp_mutex_timedlock(struct hasp_mutex *mutex,
                                                  const struct timespec *at)
{
    return hasp_mutex_clocklock(mutex, CLOCK_REALTIME, at);
}

/** Releases the mutex.
 * @return 0 */
static inline int hasp_mutex_unlock(struct hasp_mutex *mutex)
{
    note_release(mutex);
    return mutex_unlock_any(&mutex->lock);
}

/** A condition variable for mutexes of this file. Zeroed memory is one; timed waits
 * use CLOCK_REALTIME then. All threads that wait on it at one time must use the same
 * mutex. As soon as a broadcast has returned, and no thread begins a wait, it may be
 * unmapped. Waits can end spuriously: wait in a loop that checks the predicate. */
struct hasp_condition {
    struct wait_queue queue; /**< private */
};

/* clang-format off */
#define HASP_CONDITION_INITIALIZER {0}
/* clang-format on */

/** Chooses the clock of hasp_condition_timedwait().
 * @param clock CLOCK_REALTIME or CLOCK_MONOTONIC
 * @return 0, or EINVAL for another clock */
static inline int hasp_condition_init(struct hasp_condition *condition, clockid_t clock)
{
    return wait_queue_set_clock(&condition->queue, clock);
}

/** Releases the mutex, waits to be woken, and acquires the mutex again. The caller
 * holds the mutex. A cancellation point; a cancelled thread holds the mutex in its
 * cleanup handlers.
 * @return 0 */
static inline int hasp_condition_wait(struct hasp_condition *condition,
                                      struct hasp_mutex *mutex)
{
    note_release(mutex);
    int result = wait_queue_wait(&condition->queue, &mutex->lock,
                                 load_relaxed(&mutex->lock.algorithm), -1, NULL);
    note_acquired(mutex);
    return result;
}

/** Does the same, but waits at most until the clock reaches `at`, an absolute time. The
 * caller holds the mutex afterwards in every case.
 * @return 0, ETIMEDOUT, or EINVAL for a clock other than CLOCK_REALTIME and
 * CLOCK_MONOTONIC or for nanoseconds out of range */
static inline int hasp_condition_clockwait(struct hasp_condition *condition,
                                           struct hasp_mutex *mutex, clockid_t clock,
                                           const struct timespec *at)
{
    note_release(mutex);
    int result = wait_queue_wait(&condition->queue, &mutex->lock,
                                 load_relaxed(&mutex->lock.algorithm), clock, at);
    note_acquired(mutex);
    return result;
}

/** hasp_condition_clockwait() with the condition variable's own clock. */
static inline int hasp_condition_timedwait(struct hasp_condition *condition,
                                           struct hasp_mutex *mutex,
                                           const struct timespec *at)
{
    return hasp_condition_clockwait(condition, mutex, -1, at);
}

/** Wakes the thread that has waited longest. If the caller holds the mutex, that thread
 * moves to the mutex's own queue where the algorithm allows it, and so does not wake up
 * in vain.
 * @return 0 */
static inline int hasp_condition_signal(struct hasp_condition *condition)
{
    return wait_queue_wake(&condition->queue, false);
}

/** Wakes all threads that wait.
 * @return 0 */
static inline int hasp_condition_broadcast(struct hasp_condition *condition)
{
    return wait_queue_wake(&condition->queue, true);
}

/*
 * The types and functions of each algorithm, for example of mcs:
 *
 *   struct hasp_mutex_mcs;
 *   int hasp_mutex_mcs_lock(struct hasp_mutex_mcs *);
 *   int hasp_mutex_mcs_trylock(struct hasp_mutex_mcs *);
 *   int hasp_mutex_mcs_timedlock(struct hasp_mutex_mcs *, const struct timespec *);
 *   int hasp_mutex_mcs_clocklock(struct hasp_mutex_mcs *, clockid_t,
 *                                const struct timespec *);
 *   int hasp_mutex_mcs_unlock(struct hasp_mutex_mcs *);
 *   int hasp_mutex_mcs_destroy(struct hasp_mutex_mcs *);
 *   int hasp_mutex_mcs_wait(struct hasp_mutex_mcs *, struct hasp_condition *);
 *   int hasp_mutex_mcs_clockwait(struct hasp_mutex_mcs *, struct hasp_condition *,
 *                                clockid_t, const struct timespec *);
 *
 * They do and return what those above do. Initialise with HASP_MUTEX_INITIALIZER or
 * zeroes.
 */
#define LOCK(name, ...)                                                                \
    struct hasp_mutex_##name {                                                         \
        struct hasp_mutex mutex;                                                       \
    };                                                                                 \
    static inline int hasp_mutex_##name##_lock(struct hasp_mutex_##name *mutex)        \
    {                                                                                  \
        int result = mutex_##name##_lock_entry(&mutex->mutex.lock);                    \
        note_acquired(mutex);                                                          \
        return result;                                                                 \
    }                                                                                  \
    MUST_CHECK static inline int hasp_mutex_##name##_trylock(                          \
        struct hasp_mutex_##name *mutex)                                               \
    {                                                                                  \
        if (!mutex_##name##_trylock_entry(&mutex->mutex.lock))                         \
            return EBUSY;                                                              \
        note_acquired(mutex);                                                          \
        return 0;                                                                      \
    }                                                                                  \
    static inline int hasp_mutex_##name##_unlock(struct hasp_mutex_##name *mutex)      \
    {                                                                                  \
        note_release(mutex);                                                           \
        return mutex_##name##_unlock_entry(&mutex->mutex.lock);                        \
    }                                                                                  \
    MUST_CHECK static inline int hasp_mutex_##name##_clocklock(                        \
        struct hasp_mutex_##name *mutex, clockid_t clock, const struct timespec *at)   \
    {                                                                                  \
        int result =                                                                   \
            mutex_lock_until(&mutex->mutex.lock, MUTEX_SLOT_##name, clock, at);        \
        if (result == 0)                                                               \
            note_acquired(mutex);                                                      \
        return result;                                                                 \
    }                                                                                  \
    MUST_CHECK static inline int hasp_mutex_##name##_timedlock(                        \
        struct hasp_mutex_##name *mutex, const struct timespec *at)                    \
    {                                                                                  \
        return hasp_mutex_##name##_clocklock(mutex, CLOCK_REALTIME, at);               \
    }                                                                                  \
    static inline int hasp_mutex_##name##_destroy(struct hasp_mutex_##name *mutex)     \
    {                                                                                  \
        return mutex_destroy_in(&mutex->mutex.lock, MUTEX_SLOT_##name);                \
    }                                                                                  \
    static inline int hasp_mutex_##name##_clockwait(                                   \
        struct hasp_mutex_##name *mutex, struct hasp_condition *condition,             \
        clockid_t clock, const struct timespec *at)                                    \
    {                                                                                  \
        note_release(mutex);                                                           \
        int result = wait_queue_wait(&condition->queue, &mutex->mutex.lock,            \
                                     MUTEX_SLOT_##name, clock, at);                    \
        note_acquired(mutex);                                                          \
        return result;                                                                 \
    }                                                                                  \
    static inline int hasp_mutex_##name##_wait(struct hasp_mutex_##name *mutex,        \
                                               struct hasp_condition *condition)       \
    {                                                                                  \
        return hasp_mutex_##name##_clockwait(mutex, condition, -1, NULL);              \
    }
#include "locks/locks.def"
#undef LOCK

#endif
