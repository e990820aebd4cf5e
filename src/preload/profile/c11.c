/* SPDX-License-Identifier: MIT */
/*
 * C11's mtx_* and cnd_*, recorded as what they are: pthread objects, whose operations
 * they stand for (glibc's ABI, and libhasp.so's). The next library's mtx_* are not
 * called: libhasp.so's would come back to the hooked pthread functions.
 */
#include "preload/profile/condition.h"
#include "preload/profile/mutex.h"

#include <errno.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "");

static int c11_result(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

static pthread_mutex_t *mutex_in(mtx_t *mutex)
{
    return (pthread_mutex_t *)mutex;
}

static pthread_cond_t *condition_in(cnd_t *condition)
{
    return (pthread_cond_t *)condition;
}

EXPORT int mtx_init(mtx_t *mutex, int type)
{
    if (type & ~(mtx_plain | mtx_timed | mtx_recursive))
        return thrd_error;
    if (!(type & mtx_recursive))
        return c11_result(mutex_init(mutex_in(mutex), NULL, RECORD_CALLER));
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return c11_result(mutex_init(mutex_in(mutex), &attributes, RECORD_CALLER));
}

EXPORT void mtx_destroy(mtx_t *mutex)
{
    mutex_destroy(mutex_in(mutex), RECORD_CALLER);
}

EXPORT int mtx_lock(mtx_t *mutex)
{
    return c11_result(mutex_lock(mutex_in(mutex), RECORD_CALLER));
}

EXPORT int mtx_trylock(mtx_t *mutex)
{
    return c11_result(mutex_trylock(mutex_in(mutex), RECORD_CALLER));
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict at)
{
    return c11_result(mutex_timedlock(mutex_in(mutex), at, RECORD_CALLER));
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
    return c11_result(mutex_unlock(mutex_in(mutex), RECORD_CALLER));
}

EXPORT int cnd_init(cnd_t *condition)
{
    return c11_result(condition_init(condition_in(condition), NULL, RECORD_CALLER));
}

EXPORT void cnd_destroy(cnd_t *condition)
{
    condition_destroy(condition_in(condition), RECORD_CALLER);
}

EXPORT int cnd_signal(cnd_t *condition)
{
    return c11_result(condition_signal(condition_in(condition), RECORD_CALLER));
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
    return c11_result(condition_broadcast(condition_in(condition), RECORD_CALLER));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return c11_result(
        condition_wait(condition_in(condition), mutex_in(mutex), RECORD_CALLER));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                         const struct timespec *restrict at)
{
    return c11_result(condition_timedwait(condition_in(condition), mutex_in(mutex), at,
                                          RECORD_CALLER));
}
