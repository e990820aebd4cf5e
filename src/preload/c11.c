/* SPDX-License-Identifier: MIT */
/*
 * C11's mtx_* and cnd_* functions. glibc's versions call its private mutex functions
 * and so bypass the pthread hooks. call_once and thrd_* use no mutex of the program and
 * are not hooked.
 */
#include "preload/c11.h"
#include "preload/real.h"

EXPORT int mtx_init(mtx_t *mutex, int type)
{
    if (type & ~(mtx_plain | mtx_timed | mtx_recursive))
        return thrd_error;
    if (!(type & mtx_recursive))
        return c11_result(pthread_mutex_init(c11_mutex(mutex), NULL));
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return c11_result(pthread_mutex_init(c11_mutex(mutex), &attributes));
}

EXPORT void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy(c11_mutex(mutex));
}

EXPORT int mtx_lock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_lock(c11_mutex(mutex)));
}

EXPORT int mtx_trylock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_trylock(c11_mutex(mutex)));
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict at)
{
    return c11_result(pthread_mutex_timedlock(c11_mutex(mutex), at));
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_unlock(c11_mutex(mutex)));
}

EXPORT int cnd_init(cnd_t *condition)
{
    return c11_result(pthread_cond_init(c11_condition(condition), NULL));
}

EXPORT void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy(c11_condition(condition));
}

EXPORT int cnd_signal(cnd_t *condition)
{
    return c11_result(pthread_cond_signal(c11_condition(condition)));
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
    return c11_result(pthread_cond_broadcast(c11_condition(condition)));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return c11_result(pthread_cond_wait(c11_condition(condition), c11_mutex(mutex)));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                         const struct timespec *restrict at)
{
    return c11_result(
        pthread_cond_timedwait(c11_condition(condition), c11_mutex(mutex), at));
}
