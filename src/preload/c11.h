/* SPDX-License-Identifier: MIT */
/* Conversions from C11's types and results to pthread's. In glibc's ABI, mtx_t and
 * cnd_t are a pthread mutex and condition variable. */
#ifndef HASP_PRELOAD_C11_H
#define HASP_PRELOAD_C11_H

#include <errno.h>
#include <pthread.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "");

static inline int c11_result(int error)
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

static inline pthread_mutex_t *c11_mutex(mtx_t *mutex)
{
    return (pthread_mutex_t *)mutex;
}

static inline pthread_cond_t *c11_condition(cnd_t *condition)
{
    return (pthread_cond_t *)condition;
}

#endif
