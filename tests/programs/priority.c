/* SPDX-License-Identifier: MIT */
/* Priority-inheriting and priority-protected
 * mutexes, also under a condition variable. */
#include <sched.h>

#include "check.h"

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int turn;

static void set_up(int protocol, int kind)
{
    pthread_mutexattr_t attributes;
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutexattr_setprotocol(&attributes, protocol));
    if (protocol == PTHREAD_PRIO_PROTECT) {
        /* Only a thread with a real-time policy can be raised to the ceiling. */
        struct sched_param lowest = {sched_get_priority_min(SCHED_FIFO)};
        CHECK_OK(pthread_mutexattr_setprioceiling(&attributes, lowest.sched_priority));
        if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest) == EPERM)
            check_skip("no permission to use real-time scheduling");
    }
    CHECK_OK(pthread_mutex_init(&mutex, &attributes));
}

static void *count_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < 2000; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        long before = *(volatile long *)&counter;
        check_dawdle(before);
        *(volatile long *)&counter = before + 1;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void exclude(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = check_start(count_body, NULL);
    for (int i = 0; i < 4; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, 8000);
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 5);
    CHECK_OK(pthread_mutex_timedlock(&mutex, &soon));
    CHECK_RETURNS(check_try_elsewhere(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void *turn_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < 300; i++) {
        while (turn != 1)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
        turn = 0;
        CHECK_OK(pthread_cond_signal(&cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void take_turns(void)
{
    pthread_t thread = check_start(turn_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < 300; i++) {
        turn = 1;
        CHECK_OK(pthread_cond_broadcast(&cond));
        while (turn != 0)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
    }
    struct timespec soon = check_after_ms(CLOCK_MONOTONIC, 10);
    CHECK_RETURNS(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &soon),
                  ETIMEDOUT);
    CHECK_RETURNS(check_try_elsewhere(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    CHECK_OK(pthread_cond_destroy(&cond));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void inherit(void)
{
    set_up(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_NORMAL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    exclude();
}

static void inherit_recursive(void)
{
    set_up(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_RECURSIVE);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_RETURNS(check_try_elsewhere(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    exclude();
}

static void *wait_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    turn = 1;
    while (turn == 1)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/* A mutex with a waiter on a condition variable cannot be destroyed. */
static void busy_while_waited(int kind)
{
    set_up(PTHREAD_PRIO_INHERIT, kind);
    turn = 0;
    pthread_t thread = check_start(wait_body, NULL);
    for (int waiting = 0; !waiting;) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        waiting = turn;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    CHECK_RETURNS(pthread_mutex_destroy(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_lock(&mutex));
    turn = 2;
    CHECK_OK(pthread_cond_signal(&cond));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void inherit_in_use_by_a_waiter(void)
{
    busy_while_waited(PTHREAD_MUTEX_NORMAL);
    busy_while_waited(PTHREAD_MUTEX_ERRORCHECK);
    busy_while_waited(PTHREAD_MUTEX_RECURSIVE);
}

static void inherit_cond(void)
{
    set_up(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_NORMAL);
    take_turns();
}

static void protect(void)
{
    int ceiling;
    set_up(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_NORMAL);
    CHECK_OK(pthread_mutex_getprioceiling(&mutex, &ceiling));
    CHECK_EQUAL(ceiling, sched_get_priority_min(SCHED_FIFO));
    CHECK_OK(pthread_mutex_setprioceiling(&mutex, ceiling + 1, &ceiling));
    CHECK_EQUAL(ceiling, sched_get_priority_min(SCHED_FIFO));
    CHECK_OK(pthread_mutex_getprioceiling(&mutex, &ceiling));
    CHECK_EQUAL(ceiling, sched_get_priority_min(SCHED_FIFO) + 1);
    exclude();
}

static void protect_errorcheck(void)
{
    set_up(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_ERRORCHECK);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(pthread_mutex_lock(&mutex), EDEADLK);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_RETURNS(pthread_mutex_unlock(&mutex), EPERM);
    exclude();
}

static void protect_cond(void)
{
    set_up(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_NORMAL);
    take_turns();
}

CHECK_MAIN(CASE(inherit), CASE(inherit_recursive), CASE(inherit_cond),
           CASE(inherit_in_use_by_a_waiter), CASE(protect),
           CASE(protect_errorcheck), CASE(protect_cond))
