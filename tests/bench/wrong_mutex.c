/* SPDX-License-Identifier: MIT */
/* A library for preloading, whose mutexes do not ensure mutual exclusion. */
#include <pthread.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}
