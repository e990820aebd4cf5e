/* SPDX-License-Identifier: MIT */
/*
 * Hooks of pthread_cond_*. A wait ends the hold of its mutex and begins another. It is
 * a cancellation point, and a cancelled wait holds the mutex again, too.
 */
#include "preload/profile/condition.h"

#include "preload/profile/elision.h"

#include "profiler/record/misuse.h"

#include <errno.h>

static const struct record_as as_condition = {TRACE_CONDITION, TRACE_WAIT,
                                              sizeof(pthread_cond_t), 0};

int condition_init(pthread_cond_t *condition, const pthread_condattr_t *attributes,
                   void *caller)
{
    int result = next.pthread_cond_init(condition, attributes);
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes)
        pthread_condattr_getpshared(attributes, &shared);
    if (result == 0)
        record_created(condition, &as_condition,
                       shared == PTHREAD_PROCESS_SHARED ? TRACE_SHARED : 0, caller);
    return result;
}

int condition_destroy(pthread_cond_t *condition, void *caller)
{
    misuse_destroying_condition(condition, caller);
    int result = next.pthread_cond_destroy(condition);
    if (result == 0)
        record_destroyed(condition);
    return result;
}

int condition_signal(pthread_cond_t *condition, void *caller)
{
    if (!elision_is_open())
        record_signal(condition, &as_condition, false, caller);
    return next.pthread_cond_signal(condition);
}

int condition_broadcast(pthread_cond_t *condition, void *caller)
{
    if (!elision_is_open())
        record_signal(condition, &as_condition, true, caller);
    return next.pthread_cond_broadcast(condition);
}

static void cancelled(void *wait)
{
    record_wait_end(wait, false);
}

/* The kinds of wait. */
enum manner { FOR_EVER, UNTIL, UNTIL_ON_CLOCK };

static int wait_next(enum manner manner, pthread_cond_t *condition,
                     pthread_mutex_t *mutex, clockid_t clock, const struct timespec *at)
{
    switch (manner) {
    case FOR_EVER:
        return next.pthread_cond_wait(condition, mutex);
    case UNTIL:
        return next.pthread_cond_timedwait(condition, mutex, at);
    default:
        return next.pthread_cond_clockwait(condition, mutex, clock, at);
    }
}

/* Asynchronous cancellation must act neither in the recorder nor in the first steps of
 * glibc's function: the wait itself acts on a cancellation where it can be undone. */
static int wait_recorded(enum manner manner, pthread_cond_t *condition,
                         pthread_mutex_t *mutex, clockid_t clock,
                         const struct timespec *at, void *caller)
{
    struct record_wait w;
    int result;
    int token = wait_begin();
    if (!elision_is_open() &&
        record_wait_begin(&w, condition, &as_condition, mutex, caller)) {
        pthread_cleanup_push(cancelled, &w);
        result = wait_next(manner, condition, mutex, clock, at);
        pthread_cleanup_pop(0);
        record_wait_end(&w, result == ETIMEDOUT);
    } else {
        result = wait_next(manner, condition, mutex, clock, at);
    }
    wait_end(token, NULL, NULL);
    return result;
}

int condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, void *caller)
{
    return wait_recorded(FOR_EVER, condition, mutex, 0, NULL, caller);
}

int condition_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                        const struct timespec *at, void *caller)
{
    return wait_recorded(UNTIL, condition, mutex, 0, at, caller);
}

EXPORT int pthread_cond_init(pthread_cond_t *condition,
                             const pthread_condattr_t *attributes)
{
    return condition_init(condition, attributes, RECORD_CALLER);
}

EXPORT int pthread_cond_destroy(pthread_cond_t *condition)
{
    return condition_destroy(condition, RECORD_CALLER);
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    return condition_signal(condition, RECORD_CALLER);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    return condition_broadcast(condition, RECORD_CALLER);
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return condition_wait(condition, mutex, RECORD_CALLER);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *at)
{
    return condition_timedwait(condition, mutex, at, RECORD_CALLER);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *at)
{
    return wait_recorded(UNTIL_ON_CLOCK, condition, mutex, clock, at, RECORD_CALLER);
}

OWN_NAME(pthread_cond_init) __attribute__((leaf));
OWN_NAME(pthread_cond_destroy) __attribute__((leaf));
OWN_NAME(pthread_cond_signal);
OWN_NAME(pthread_cond_broadcast);
OWN_NAME(pthread_cond_wait);
OWN_NAME(pthread_cond_timedwait);
