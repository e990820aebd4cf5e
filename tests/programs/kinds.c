/* SPDX-License-Identifier: MIT */
/* The four kinds of mutex, from attributes and
 * from static initialisers, and their errors. */
#include <limits.h>

#include "check.h"

static pthread_mutex_t recursive_static = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t errorcheck_static = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive_static = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t plain_static = PTHREAD_MUTEX_INITIALIZER;

static void init_kind(pthread_mutex_t *mutex, int kind)
{
    pthread_mutexattr_t attributes;
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutex_init(mutex, &attributes));
    CHECK_OK(pthread_mutexattr_destroy(&attributes));
}

static void *unlock_body(void *mutex)
{
    return (void *)(long)pthread_mutex_unlock(mutex);
}

static int unlock_elsewhere(pthread_mutex_t *mutex)
{
    return (int)(long)check_join(check_start(unlock_body, mutex));
}

static void check_recursive(pthread_mutex_t *mutex)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 5000);
    struct timespec monotonic = check_after_ms(CLOCK_MONOTONIC, 5000);
    CHECK_RETURNS(pthread_mutex_unlock(mutex), EPERM);
    CHECK_OK(pthread_mutex_lock(mutex));
    CHECK_OK(pthread_mutex_lock(mutex));
    CHECK_OK(pthread_mutex_trylock(mutex));
    CHECK_OK(pthread_mutex_timedlock(mutex, &soon));
    CHECK_OK(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &monotonic));
    CHECK_RETURNS(unlock_elsewhere(mutex), EPERM);
    CHECK_RETURNS(check_try_elsewhere(mutex), EBUSY);
    for (int depth = 5; depth > 1; depth--) {
        CHECK_OK(pthread_mutex_unlock(mutex));
        CHECK_RETURNS(check_try_elsewhere(mutex), EBUSY);
    }
    CHECK_RETURNS(pthread_mutex_destroy(mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_OK(check_try_elsewhere(mutex));
    CHECK_RETURNS(pthread_mutex_unlock(mutex), EPERM);
    CHECK_OK(pthread_mutex_destroy(mutex));
}

static void recursive_attribute(void)
{
    pthread_mutex_t mutex;
    init_kind(&mutex, PTHREAD_MUTEX_RECURSIVE);
    check_recursive(&mutex);
}

static void recursive_initialiser(void)
{
    check_recursive(&recursive_static);
}

/* Starts with a count near the maximum, because four billion acquisitions would take
 * too long. */
static void recursion_overflow(void)
{
    pthread_mutex_t *mutex = &recursive_static;
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 5000);
    CHECK_OK(pthread_mutex_lock(mutex));
    if (mutex->__data.__count != 1)
        check_skip("the recursion count is not where glibc keeps it");
    mutex->__data.__count = UINT_MAX - 1;
    CHECK_OK(pthread_mutex_lock(mutex));
    CHECK_RETURNS(pthread_mutex_lock(mutex), EAGAIN);
    CHECK_RETURNS(pthread_mutex_trylock(mutex), EAGAIN);
    CHECK_RETURNS(pthread_mutex_timedlock(mutex, &soon), EAGAIN);
    mutex->__data.__count = 2;
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_RETURNS(check_try_elsewhere(mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_OK(check_try_elsewhere(mutex));
}

static void check_errorcheck(pthread_mutex_t *mutex)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 5000);
    struct timespec monotonic = check_after_ms(CLOCK_MONOTONIC, 5000);
    CHECK_RETURNS(pthread_mutex_unlock(mutex), EPERM);
    CHECK_OK(pthread_mutex_lock(mutex));
    CHECK_RETURNS(pthread_mutex_lock(mutex), EDEADLK);
    CHECK_RETURNS(pthread_mutex_trylock(mutex), EBUSY);
    CHECK_RETURNS(pthread_mutex_timedlock(mutex, &soon), EDEADLK);
    CHECK_RETURNS(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &monotonic), EDEADLK);
    CHECK_RETURNS(unlock_elsewhere(mutex), EPERM);
    CHECK_RETURNS(check_try_elsewhere(mutex), EBUSY);
    CHECK_RETURNS(pthread_mutex_destroy(mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_RETURNS(pthread_mutex_unlock(mutex), EPERM);
    CHECK_OK(pthread_mutex_trylock(mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_OK(pthread_mutex_timedlock(mutex, &soon));
    CHECK_RETURNS(pthread_mutex_lock(mutex), EDEADLK);
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_OK(pthread_mutex_destroy(mutex));
}

static void errorcheck_attribute(void)
{
    pthread_mutex_t mutex;
    init_kind(&mutex, PTHREAD_MUTEX_ERRORCHECK);
    check_errorcheck(&mutex);
}

static void errorcheck_initialiser(void)
{
    check_errorcheck(&errorcheck_static);
}

/* Normal and adaptive mutexes do not check their owner: locking one twice blocks. */
static void check_ownerless(pthread_mutex_t *mutex)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 20);
    struct timespec monotonic = check_after_ms(CLOCK_MONOTONIC, 20);
    CHECK_RETURNS(pthread_mutex_trylock(mutex), EBUSY);
    CHECK_RETURNS(pthread_mutex_timedlock(mutex, &soon), ETIMEDOUT);
    CHECK_RETURNS(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &monotonic),
                  ETIMEDOUT);
    CHECK_RETURNS(pthread_mutex_destroy(mutex), EBUSY);
    CHECK_OK(unlock_elsewhere(mutex));
    CHECK_OK(pthread_mutex_trylock(mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_OK(pthread_mutex_destroy(mutex));
}

static void adaptive_attribute(void)
{
    pthread_mutex_t mutex;
    init_kind(&mutex, PTHREAD_MUTEX_ADAPTIVE_NP);
    check_ownerless(&mutex);
}

static void adaptive_initialiser(void)
{
    check_ownerless(&adaptive_static);
}

/* If set explicitly, the normal kind has a flag that the default does not have. */
static void normal_attribute(void)
{
    pthread_mutex_t mutex;
    init_kind(&mutex, PTHREAD_MUTEX_NORMAL);
    check_ownerless(&mutex);
}

static void default_initialiser(void)
{
    check_ownerless(&plain_static);
}

static void refused_operations(void)
{
    int ceiling;
    pthread_mutex_t mutex;
    CHECK_RETURNS(pthread_mutex_consistent(&plain_static), EINVAL);
    CHECK_RETURNS(pthread_mutex_getprioceiling(&plain_static, &ceiling), EINVAL);
    CHECK_RETURNS(pthread_mutex_setprioceiling(&plain_static, 1, &ceiling), EINVAL);
    CHECK_OK(pthread_mutex_init(&mutex, NULL));
    CHECK_RETURNS(pthread_mutex_consistent(&mutex), EINVAL);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

CHECK_MAIN(CASE(recursive_attribute), CASE(recursive_initialiser),
           CASE(recursion_overflow), CASE(errorcheck_attribute),
           CASE(errorcheck_initialiser), CASE(adaptive_attribute),
           CASE(adaptive_initialiser), CASE(normal_attribute),
           CASE(default_initialiser), CASE(refused_operations))
