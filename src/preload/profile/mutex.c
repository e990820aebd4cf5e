/* SPDX-License-Identifier: MIT */
/* Hooks of pthread_mutex_*. */
#include "preload/profile/mutex.h"

#include "preload/profile/elision.h"

#include "profiler/record/misuse.h"

#include <errno.h>

const struct record_as as_mutex = {TRACE_MUTEX, TRACE_LOCK, sizeof(pthread_mutex_t), 0};

/* Glibc's kinds: the type in the low bits, and flags. */
enum { KIND_TYPE = 3, KIND_ROBUST = 16, KIND_PRIORITY = 32 | 64, KIND_SHARED = 128 };

static bool has_owner(const pthread_mutex_t *mutex)
{
    return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) != 0;
}

/* The first word is 0 exactly while the mutex is free, with glibc and all algorithms
 * except those with handover, where both fields are 0 until the next holder runs. */
static bool is_taken(const pthread_mutex_t *mutex)
{
    return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 0;
}

/* The cheap check. Some algorithms leave the last owner in place. A prefetch would
 * abort the transactions of other threads that elide the mutex. */
static bool looks_free(const pthread_mutex_t *mutex)
{
    if (likely(!elision_watched()))
        record_prefetch(mutex);
    return likely(!has_owner(mutex) && !record_inspects_closely());
}

/* Makes the full check, if the cheap one fails. */
static bool is_busy(const pthread_mutex_t *mutex)
{
    return is_taken(mutex) || record_handover_pending(mutex);
}

/* Returns whether the caller holds it and will not wait: recursion, or an error. */
static bool is_callers(const pthread_mutex_t *mutex)
{
    int type = mutex->__data.__kind & KIND_TYPE;
    return (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) &&
           (uint32_t)mutex->__data.__owner == current_thread();
}

static bool will_wait(const pthread_mutex_t *mutex)
{
    return is_taken(mutex) && !is_callers(mutex);
}

/* Returns whether locking it cannot fail while it has no owner. */
static bool is_usual(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & ~KIND_TYPE) == 0;
}

static bool got(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

enum record_result mutex_outcome(int result)
{
    if (got(result))
        return RECORD_GOT;
    return result == ETIMEDOUT ? RECORD_TIMED_OUT : RECORD_FAILED;
}

static uint32_t flags_of(const pthread_mutex_t *mutex)
{
    int kind = mutex->__data.__kind;
    uint32_t flags = 0;
    if ((kind & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE)
        flags |= TRACE_RECURSIVE;
    if ((kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK)
        flags |= TRACE_ERRORCHECK;
    if (kind & KIND_SHARED)
        flags |= TRACE_SHARED;
    if (kind & KIND_ROBUST)
        flags |= TRACE_ROBUST;
    if (kind & KIND_PRIORITY)
        flags |= TRACE_PRIORITY;
    return flags;
}

int mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes,
               void *caller)
{
    misuse_initialising(mutex, is_taken(mutex), caller);
    int result = next.pthread_mutex_init(mutex, attributes);
    if (result == 0)
        record_created(mutex, &as_mutex, flags_of(mutex), caller);
    return result;
}

int mutex_destroy(pthread_mutex_t *mutex, void *caller)
{
    misuse_destroying(mutex, is_taken(mutex), caller);
    int result = next.pthread_mutex_destroy(mutex);
    if (result == 0)
        record_destroyed(mutex);
    return result;
}

__attribute__((noinline)) int mutex_lock(pthread_mutex_t *mutex, void *caller)
{
    struct record_acquisition a;
    RECORD_ELIDED(elision_covers(mutex), mutex, &as_mutex, elided_end,
                  next.pthread_mutex_lock(mutex), caller);
    bool special = !is_usual(mutex) || (!looks_free(mutex) && is_busy(mutex));
    if (!special && record_count_nested_lock(mutex, caller))
        return next.pthread_mutex_lock(mutex);
    if (!record_acquire_begin(&a, mutex, &as_mutex, will_wait(mutex), caller))
        return next.pthread_mutex_lock(mutex);
    int result = next.pthread_mutex_lock(mutex);
    record_acquire_end(&a, got(result) ? RECORD_GOT : RECORD_FAILED);
    if (unlikely(result == EDEADLK))
        misuse_relocking(mutex, caller);
    return result;
}

__attribute__((noinline)) int mutex_unlock(pthread_mutex_t *mutex, void *caller)
{
    struct record_release r;
    if (record_count_nested_unlock(mutex))
        return next.pthread_mutex_unlock(mutex);
    if (!record_release_begin(&r, (uintptr_t)mutex)) {
        if (!elision_is_open())
            misuse_unlocking(mutex, caller);
        return next.pthread_mutex_unlock(mutex);
    }
    int result = next.pthread_mutex_unlock(mutex);
    record_release_end(&r);
    return result;
}

static __attribute__((noinline)) int try_recorded(pthread_mutex_t *mutex, void *caller)
{
    struct record_acquisition a;
    struct trace_lock_count *count = record_count_trylock(mutex);
    if (!count && !record_trylock_begin(&a, mutex, &as_mutex, caller))
        return next.pthread_mutex_trylock(mutex);
    int result = next.pthread_mutex_trylock(mutex);
    if (count)
        record_count_trylock_result(count, mutex, &as_mutex, got(result), caller);
    else
        record_trylock_end(&a, got(result));
    return result;
}

int mutex_trylock(pthread_mutex_t *mutex, void *caller)
{
    RECORD_ELIDED(elision_covers(mutex), mutex, &as_mutex, elided_tried,
                  next.pthread_mutex_trylock(mutex), caller);
    record_prefetch(mutex);
    if (record_skips(is_taken(mutex)))
        return next.pthread_mutex_trylock(mutex);
    return try_recorded(mutex, caller);
}

int mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *at, void *caller)
{
    struct record_acquisition a;
    RECORD_ELIDED(elision_covers(mutex), mutex, &as_mutex, elided_end,
                  next.pthread_mutex_timedlock(mutex, at), caller);
    if (!record_acquire_begin(&a, mutex, &as_mutex, will_wait(mutex), caller))
        return next.pthread_mutex_timedlock(mutex, at);
    int result = next.pthread_mutex_timedlock(mutex, at);
    record_acquire_end(&a, mutex_outcome(result));
    return result;
}

EXPORT int pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attributes)
{
    return mutex_init(mutex, attributes, RECORD_CALLER);
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return mutex_destroy(mutex, RECORD_CALLER);
}

/* A lock and an unlock that are not sampled execute one cache line of code each,
 * because between two requests of a server the kernel's code evicts it. */
#define ONE_LINE __attribute__((aligned(64)))

/* Locks after one of the checks. */
static inline int lock(pthread_mutex_t *mutex, bool busy, void *caller)
{
    if (record_skips(busy) || record_count_lock(mutex, busy || !is_usual(mutex)))
        return next.pthread_mutex_lock(mutex);
    return mutex_lock(mutex, caller);
}

static __attribute__((noinline)) int lock_at_second_sight(pthread_mutex_t *mutex,
                                                          void *caller)
{
    if (unlikely(elision_watched()))
        return mutex_lock(mutex, caller);
    return lock(mutex, is_busy(mutex), caller);
}

EXPORT ONE_LINE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (looks_free(mutex))
        return lock(mutex, false, RECORD_CALLER);
    return lock_at_second_sight(mutex, RECORD_CALLER);
}

EXPORT ONE_LINE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (record_release_skips() || record_count_unlock(mutex))
        return next.pthread_mutex_unlock(mutex);
    return mutex_unlock(mutex, RECORD_CALLER);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return mutex_trylock(mutex, RECORD_CALLER);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *at)
{
    return mutex_timedlock(mutex, at, RECORD_CALLER);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                   const struct timespec *at)
{
    struct record_acquisition a;
    RECORD_ELIDED(elision_covers(mutex), mutex, &as_mutex, elided_end,
                  next.pthread_mutex_clocklock(mutex, clock, at), RECORD_CALLER);
    const bool busy = will_wait(mutex);
    if (!record_acquire_begin(&a, mutex, &as_mutex, busy, RECORD_CALLER))
        return next.pthread_mutex_clocklock(mutex, clock, at);
    int result = next.pthread_mutex_clocklock(mutex, clock, at);
    record_acquire_end(&a, mutex_outcome(result));
    return result;
}

OWN_NAME(pthread_mutex_init) __attribute__((leaf));
OWN_NAME(pthread_mutex_destroy) __attribute__((leaf));
OWN_NAME(pthread_mutex_lock);
OWN_NAME(pthread_mutex_trylock);
OWN_NAME(pthread_mutex_unlock);

OLD_NAME(pthread_mutex_init) __attribute__((leaf));
OLD_NAME(pthread_mutex_destroy) __attribute__((leaf));
OLD_NAME(pthread_mutex_lock);
OLD_NAME(pthread_mutex_trylock);
OLD_NAME(pthread_mutex_unlock);
