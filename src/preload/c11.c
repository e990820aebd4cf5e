/* SPDX-License-Identifier: MIT */
/*
 * C11 mtx_* and cnd_*: glibc's own call its private mutex functions, not the hooked
 * ones, so they are hooked themselves. Their objects are pthread ones (glibc's ABI).
 * call_once and thrd_* touch no mutex of the program.
 */
#include "preload/real.h"

#include <errno.h>
#include <threads.h>

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
        return c11_result(pthread_mutex_init(mutex_in(mutex), NULL));
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return c11_result(pthread_mutex_init(mutex_in(mutex), &attributes));
}

EXPORT void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy(mutex_in(mutex));
}

EXPORT int mtx_lock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_lock(mutex_in(mutex)));
}

EXPORT int mtx_trylock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_trylock(mutex_in(mutex)));
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict at)
{
    return c11_result(pthread_mutex_timedlock(mutex_in(mutex), at));
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_unlock(mutex_in(mutex)));
}

EXPORT int cnd_init(cnd_t *condition)
{
    return c11_result(pthread_cond_init(condition_in(condition), NULL));
}

EXPORT void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy(condition_in(condition));
}

EXPORT int cnd_signal(cnd_t *condition)
{
    return c11_result(pthread_cond_signal(condition_in(condition)));
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
    return c11_result(pthread_cond_broadcast(condition_in(condition)));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return c11_result(pthread_cond_wait(condition_in(condition), mutex_in(mutex)));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                         const struct timespec *restrict at)
{
    return c11_result(
        pthread_cond_timedwait(condition_in(condition), mutex_in(mutex), at));
}
