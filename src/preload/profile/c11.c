/* SPDX-License-Identifier: MIT */
/*
 * Hooks of C11's mtx_* and cnd_*. These objects are pthread objects in glibc's ABI and
 * libhasp.so's, so they are recorded as such. The next library's mtx_* are not called,
 * because those of libhasp.so would call the hooked pthread functions.
 */
#include "preload/c11.h"
#include "preload/profile/condition.h"
#include "preload/profile/mutex.h"

EXPORT int mtx_init(mtx_t *mutex, int type)
{
    if (type & ~(mtx_plain | mtx_timed | mtx_recursive))
        return thrd_error;
    if (!(type & mtx_recursive))
        return c11_result(mutex_init(c11_mutex(mutex), NULL, RECORD_CALLER));
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return c11_result(mutex_init(c11_mutex(mutex), &attributes, RECORD_CALLER));
}

EXPORT void mtx_destroy(mtx_t *mutex)
{
    mutex_destroy(c11_mutex(mutex), RECORD_CALLER);
}

EXPORT int mtx_lock(mtx_t *mutex)
{
    return c11_result(mutex_lock(c11_mutex(mutex), RECORD_CALLER));
}

EXPORT int mtx_trylock(mtx_t *mutex)
{
    return c11_result(mutex_trylock(c11_mutex(mutex), RECORD_CALLER));
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict at)
{
    return c11_result(mutex_timedlock(c11_mutex(mutex), at, RECORD_CALLER));
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
    return c11_result(mutex_unlock(c11_mutex(mutex), RECORD_CALLER));
}

EXPORT int cnd_init(cnd_t *condition)
{
    return c11_result(condition_init(c11_condition(condition), NULL, RECORD_CALLER));
}

EXPORT void cnd_destroy(cnd_t *condition)
{
    condition_destroy(c11_condition(condition), RECORD_CALLER);
}

EXPORT int cnd_signal(cnd_t *condition)
{
    return c11_result(condition_signal(c11_condition(condition), RECORD_CALLER));
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
    return c11_result(condition_broadcast(c11_condition(condition), RECORD_CALLER));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return c11_result(
        condition_wait(c11_condition(condition), c11_mutex(mutex), RECORD_CALLER));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                         const struct timespec *restrict at)
{
    pthread_cond_t *waited = c11_condition(condition);
    return c11_result(condition_timedwait(waited, c11_mutex(mutex), at, RECORD_CALLER));
}
