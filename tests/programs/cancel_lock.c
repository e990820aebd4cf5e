/* SPDX-License-Identifier: MIT */
/* Cancellation of threads that wait for a mutex: deferred cancellation takes effect at
 * the next cancellation point, asynchronous cancellation during the wait. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t queued;
static int acquired;
static int stage;

static void *lock_then_test(void *argument)
{
    long timed = (long)argument;
    struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
    check_publish(&queued);
    if (timed)
        CHECK_OK(pthread_mutex_timedlock(&mutex, &late));
    else
        CHECK_OK(pthread_mutex_lock(&mutex));
    check_set(&acquired, 1);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_set(&stage, 1);
    pthread_testcancel();
    check_set(&stage, 2);
    return NULL;
}

static void deferred(long timed)
{
    for (int i = 0; i < 20; i++) {
        queued = acquired = stage = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        pthread_t thread = check_start(lock_then_test, (void *)timed);
        check_wait_queued(&queued);
        CHECK_OK(pthread_cancel(thread));
        check_sleep_ms(1);
        CHECK_EQUAL(check_get(&acquired), 0);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK(check_join(thread) == PTHREAD_CANCELED);
        CHECK_EQUAL(acquired, 1);
        CHECK_EQUAL(stage, 1);
        CHECK_OK(pthread_mutex_trylock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

static void blocked_in_lock(void)
{
    deferred(0);
}

static void blocked_in_timedlock(void)
{
    deferred(1);
}

/* Locking and unlocking are not cancellation points, whether or not they block. */
static void *not_a_point_body(void *ignored)
{
    (void)ignored;
    struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    CHECK_OK(pthread_cancel(pthread_self()));
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_timedlock(&mutex, &late));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cond_signal(&cond));
    CHECK_OK(pthread_cond_broadcast(&cond));
    CHECK_OK(pthread_cond_destroy(&cond));
    check_set(&stage, 1);
    pthread_testcancel();
    return NULL;
}

static void not_a_point(void)
{
    CHECK(check_join(check_start(not_a_point_body, NULL)) == PTHREAD_CANCELED);
    CHECK_EQUAL(stage, 1);
}

static void *asynchronous_body(void *ignored)
{
    int before;
    (void)ignored;
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before));
    check_publish(&queued);
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_set(&acquired, 1);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/*
 * POSIX does not allow asynchronous cancellation in mutex operations, but with the C
 * library a blocked thread may be cancelled that way, and the mutex remains usable.
 */
static void asynchronous(void)
{
    struct timespec late = check_after_ms(CLOCK_REALTIME, 15000);
    for (int i = 0; i < 10; i++) {
        queued = acquired = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        pthread_t victim = check_start(asynchronous_body, NULL);
        check_wait_queued(&queued);
        CHECK_OK(pthread_cancel(victim));
        check_sleep_ms(1);
        CHECK_EQUAL(check_get(&acquired), 0);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(victim);
        CHECK_OK(pthread_mutex_timedlock(&mutex, &late));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

static void *asynchronous_timed_body(void *ignored)
{
    int before;
    struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
    (void)ignored;
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before));
    check_publish(&queued);
    CHECK_OK(pthread_mutex_timedlock(&mutex, &late));
    check_end(1, "the cancelled thread acquired the mutex\n");
}

static void *second_body(void *slot)
{
    check_publish(slot);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/* The holder joins the cancelled waiter before it releases the mutex, so the waiter has
 * to end without ever acquiring it. A second waiter still gets its turn. */
static void cancelled_while_held(void *(*body)(void *))
{
    for (int i = 0; i < 5; i++) {
        pid_t second_queued = queued = acquired = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        pthread_t victim = check_start(body, NULL);
        check_wait_queued(&queued);
        pthread_t second = check_start(second_body, &second_queued);
        check_wait_queued(&second_queued);
        CHECK_OK(pthread_cancel(victim));
        CHECK(check_join(victim) == PTHREAD_CANCELED);
        CHECK_EQUAL(acquired, 0);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(second);
    }
}

static void asynchronous_while_held(void)
{
    cancelled_while_held(asynchronous_body);
}

static void asynchronous_in_timedlock(void)
{
    cancelled_while_held(asynchronous_timed_body);
}

/* A wait does not change the program's cancellation type and state. */
static void *type_is_kept_body(void *ignored)
{
    int before;
    (void)ignored;
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before));
    check_publish(&queued);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before));
    CHECK_EQUAL(before, PTHREAD_CANCEL_ASYNCHRONOUS);
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before));
    CHECK_EQUAL(before, PTHREAD_CANCEL_DISABLE);
    return NULL;
}

static void type_is_kept(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_t thread = check_start(type_is_kept_body, NULL);
    check_wait_queued(&queued);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
}

CHECK_MAIN(CASE(blocked_in_lock), CASE(blocked_in_timedlock), CASE(not_a_point),
           CASE(asynchronous), CASE(asynchronous_while_held),
           CASE(asynchronous_in_timedlock), CASE(type_is_kept))
