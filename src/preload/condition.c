/* SPDX-License-Identifier: MIT */
/* pthread_cond_*: pthread's functions, implemented by Hasp's own condition variables
 * (src/condition/wait.h). */
#include "condition/cancellable.h"
#include "condition/wait.h"
#include "elision/elide.h"
#include "preload/borrowing/borrowing.h"
#include "preload/dispatch.h"
#include "preload/mutex.h"
#include "preload/real.h"

#include <errno.h>
#include <limits.h>

/* The longest sleep of a wait on a process-shared condvar with one of Hasp's
 * mutexes. */
enum { SHARED_SLICE_NS = 5000000 };

unsigned condition_flags_offset = 36; /* startup() corrects it */

struct wait {
    struct condition_wait core;
    bool counted; /* among the mutex's users, which keeps it from being destroyed */
};

static const struct lock_operations *held_operations(struct lock *lock)
{
    return !passed_through(lock) && mutex_held_by_caller(lock) ? operations_of(lock)
                                                               : NULL;
}

static void wake(const void *condition, bool all)
{
    condition_wake(condition, all, held_operations);
}

static bool is_recursive(struct lock *lock)
{
    return !passed_through(lock) && (lock->kind & KIND_TYPE) == KIND_RECURSIVE;
}

/* Acquires the mutex again, however the wait ended. */
static int take_again(struct wait *wait)
{
    struct lock *lock = wait->core.lock;
    int result = 0;
    if (is_recursive(lock) && mutex_held_by_caller(lock)) {
        /* The mutex was held twice, and the wait released only one level, as in
         * glibc. */
        waiter_give(wait->core.waiter);
        lock->users--;
        lock->count++;
        return 0;
    }
    if (!condition_reacquire(&wait->core,
                             passed_through(lock) ? NULL : operations_of(lock)))
        result = real_pthread_mutex_lock()(mutex_of(lock));
    if (wait->counted && result == 0)
        lock->users--;
    if (is_recursive(lock))
        lock->count = 1;
    return result;
}

/* Counts the caller among the mutex's users, as glibc's waits do, so that it cannot be
 * destroyed. It does not count the caller if glibc's unlock is going to fail, or if the
 * mutex is robust: glibc destroys a robust mutex in any case, and the caller may not
 * own it after the wait. */
static bool count_in(struct lock *lock)
{
    if (passed_through(lock) &&
        (lock->kind & KIND_ROBUST || !mutex_held_by_caller(lock)))
        return false;
    lock->users++;
    return true;
}

static void cancelled_asleep(void *argument)
{
    struct wait *wait = argument;
    wait->core.withdrawn = condition_withdraw(wait->core.condition, wait->core.waiter);
    take_again(wait);
    condition_pass_on(&wait->core, wake);
}

/* A cancellation point; the caller's cancellation type is deferred. */
static void sleep_in_condition(struct wait *wait, const struct deadline *deadline)
{
    pthread_cleanup_push(cancelled_asleep, wait);
    if (!condition_sleep(&wait->core, deadline, park_cancellably))
        pthread_testcancel();
    pthread_cleanup_pop(0);
}

static void add_nanoseconds(struct timespec *at, long ns)
{
    at->tv_nsec += ns;
    if (at->tv_nsec >= 1000000000) {
        at->tv_nsec -= 1000000000;
        at->tv_sec++;
    }
}

static bool earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void lock_again(void *mutex)
{
    pthread_mutex_lock(mutex);
    lock_of(mutex)->users--;
}

/* Makes one wait in glibc with one of Hasp's mutexes. */
static int wait_slice(pthread_cond_t *condition, pthread_mutex_t *mutex,
                      clockid_t clock, const struct timespec *until)
{
    pthread_mutex_t scratch = PTHREAD_MUTEX_INITIALIZER;
    int result;
    real_pthread_mutex_lock()(&scratch);
    lock_of(mutex)->users++; /* as in count_in() */
    pthread_mutex_unlock(mutex);
    pthread_cleanup_push(lock_again, mutex);
    result = real_pthread_cond_clockwait()(condition, &scratch, clock, until);
    real_pthread_mutex_unlock()(&scratch);
    pthread_cleanup_pop(1);
    return result;
}

/*
 * glibc handles process-shared condvars, and its wait needs one of its own mutexes.
 * With one of Hasp's, it waits with a scratch mutex, for a slice at a time: a signal
 * between the unlock and the wait is lost, but the slice ends in a spurious wake-up,
 * which is legal.
 */
static int wait_shared(pthread_cond_t *condition, struct lock *lock,
                       const struct deadline *deadline)
{
    const clockid_t clock = deadline ? deadline->clock : CLOCK_MONOTONIC;
    struct timespec until;
    clock_gettime(clock, &until);
    add_nanoseconds(&until, SHARED_SLICE_NS);
    bool last = deadline && !earlier(&until, &deadline->at);
    if (last)
        until = deadline->at;
    int result = wait_slice(condition, mutex_of(lock), clock, &until);
    return result == ETIMEDOUT && !last ? 0 : result;
}

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *mutex,
                   const struct deadline *deadline)
{
    struct lock *lock = lock_of(mutex);
    before_kernel();
    elision_leave(ELISION_WAIT); /* a section that waits cannot be a transaction */
    int error = mutex_check_before_wait(lock);
    if (error)
        return error;
    if (unlikely(load_relaxed(condition_flags(condition)) & CONDITION_SHARED)) {
        if (!passed_through(lock))
            return wait_shared(condition, lock, deadline);
        return deadline ? real_pthread_cond_clockwait()(condition, mutex,
                                                        deadline->clock, &deadline->at)
                        : real_pthread_cond_wait()(condition, mutex);
    }
    int token = wait_begin();
    struct wait wait = {condition_begin(condition, lock), false};
    wait.counted = count_in(lock);
    error = pthread_mutex_unlock(mutex);
    if (unlikely(error)) { /* glibc's mutex, and not the caller's */
        condition_call_off(&wait.core, wake);
    } else {
        sleep_in_condition(&wait, deadline);
        error = take_again(&wait);
    }
    wait_end(token, NULL, NULL);
    return error ? error : wait.core.withdrawn ? ETIMEDOUT : 0;
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex,
                      clockid_t clock, const struct timespec *at)
{
    if (at->tv_nsec < 0 || at->tv_nsec >= 1000000000)
        return EINVAL;
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    const struct deadline deadline = {clock, *at};
    return wait_on(condition, mutex, &deadline);
}

EXPORT int pthread_cond_init(pthread_cond_t *condition,
                             const pthread_condattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    clockid_t clock = CLOCK_REALTIME;
    if (attributes) {
        pthread_condattr_getpshared(attributes, &shared);
        pthread_condattr_getclock(attributes, &clock);
        if (shared != PTHREAD_PROCESS_PRIVATE)
            return real_pthread_cond_init()(condition, attributes);
    }
    *condition = (pthread_cond_t){0};
    if (clock == CLOCK_MONOTONIC)
        store_relaxed(condition_flags(condition), CONDITION_MONOTONIC);
    return 0;
}

static bool is_shared(pthread_cond_t *condition)
{
    return load_relaxed(condition_flags(condition)) & CONDITION_SHARED;
}

/* Unlike glibc's function, this one does not wait for woken waiters to leave, because
 * they do not access the condvar. */
EXPORT int pthread_cond_destroy(pthread_cond_t *condition)
{
    return is_shared(condition) ? real_pthread_cond_destroy()(condition) : 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    if (likely(!condition_has_waiter(condition)))
        if (likely(!is_shared(condition)))
            return 0;
    if (is_shared(condition))
        return real_pthread_cond_signal()(condition);
    wake(condition, false);
    return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (likely(!condition_has_waiter(condition)))
        if (likely(!is_shared(condition)))
            return 0;
    if (is_shared(condition))
        return real_pthread_cond_broadcast()(condition);
    wake(condition, true);
    return 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return wait_on(condition, mutex, NULL);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *at)
{
    bool monotonic = load_relaxed(condition_flags(condition)) & CONDITION_MONOTONIC;
    return wait_until(condition, mutex, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                      at);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *at)
{
    return wait_until(condition, mutex, clock, at);
}

OWN_NAME(pthread_cond_init) __attribute__((leaf));
OWN_NAME(pthread_cond_destroy) __attribute__((leaf));
OWN_NAME(pthread_cond_signal);
OWN_NAME(pthread_cond_broadcast);
OWN_NAME(pthread_cond_wait);
OWN_NAME(pthread_cond_timedwait);
