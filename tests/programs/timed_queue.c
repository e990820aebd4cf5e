/* SPDX-License-Identifier: MIT */
/* Timed waiters that give up while others are queued ahead of and after them. */
#include "check.h"

enum { WAITERS = 7, LEAVERS = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static long timeouts;

struct waiter {
    pid_t queued;
    long timeout_ms;
    int result;
};

static void *waiter_body(void *argument)
{
    struct waiter *waiter = argument;
    struct timespec deadline = check_after_ms(CLOCK_MONOTONIC, waiter->timeout_ms);
    check_publish(&waiter->queued);
    if (waiter->timeout_ms < 0)
        waiter->result = pthread_mutex_lock(&mutex);
    else
        waiter->result = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline);
    if (waiter->result == 0) {
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

/* Queues waiters in the given order (-1: no time limit), lets the timed ones give up
 * while the lock is held, releases it, and checks that all others acquire it. */
static void leave_queue(const long *timeouts_ms, int count)
{
    struct waiter waiters[WAITERS] = {0};
    pthread_t threads[WAITERS];
    long patient = 0;
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < count; i++) {
        waiters[i].timeout_ms = timeouts_ms[i];
        patient += timeouts_ms[i] < 0;
        threads[i] = check_start(waiter_body, &waiters[i]);
        CHECK_UNTIL(check_get(&waiters[i].queued));
        check_sleep_ms(4);
    }
    for (int i = 0; i < count; i++)
        if (timeouts_ms[i] >= 0) {
            check_join(threads[i]);
            CHECK_RETURNS(waiters[i].result, ETIMEDOUT);
        }
    CHECK_RETURNS(check_try_elsewhere(&mutex), EBUSY);
    counter = 0;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < count; i++)
        if (timeouts_ms[i] < 0) {
            check_join(threads[i]);
            CHECK_OK(waiters[i].result);
        }
    CHECK_EQUAL(counter, patient);
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

#define LEAVE(...) \
    leave_queue((long[]){__VA_ARGS__}, sizeof((long[]){__VA_ARGS__}) / sizeof(long))

static void alone(void)
{
    LEAVE(10);
    LEAVE(10, 5, 20);
}

static void at_the_head(void)
{
    LEAVE(20, -1);
    LEAVE(30, 20, -1, -1);
}

static void in_the_middle(void)
{
    LEAVE(-1, 10, -1);
    LEAVE(-1, 30, 10, 20, -1);
}

static void at_the_tail(void)
{
    LEAVE(-1, 10);
    LEAVE(-1, -1, 10, 10, 10);
}

static void everywhere(void)
{
    LEAVE(25, -1, 15, -1, 10, 20, -1);
}

/* Deadlines that coincide with releases: each waiter either acquires the lock or leaves
 * no trace. */
static void *racing_body(void *argument)
{
    int rounds = *(int *)argument;
    unsigned dice = (unsigned)gettid();
    for (int i = 0; i < rounds; i++) {
        dice = dice * 1103515245 + 12345;
        long us = dice >> 16 & 127;
        struct timespec deadline = check_after_us(CLOCK_MONOTONIC, us - 5);
        int result = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline);
        if (result == 0) {
            counter++;
            /* Now and then holds the lock long enough for the others to give up while
             * they sleep. */
            if ((dice >> 24 & 15) == 0)
                check_sleep_us(20);
            CHECK_OK(pthread_mutex_unlock(&mutex));
        } else {
            CHECK_EQUAL(result, ETIMEDOUT);
            check_add(&timeouts, 1);
        }
    }
    return NULL;
}

static void *steady_body(void *argument)
{
    int rounds = *(int *)argument;
    for (int i = 0; i < rounds; i++) {
        if (i % 3 == 0) {
            int result = pthread_mutex_trylock(&mutex);
            if (result) {
                CHECK_EQUAL(result, EBUSY);
                check_add(&timeouts, 1);
                continue;
            }
        } else {
            CHECK_OK(pthread_mutex_lock(&mutex));
        }
        counter++;
        if (i % 16 == 0)
            check_sleep_us(20);
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void storm(int leavers, int steady)
{
    pthread_t threads[LEAVERS + 2];
    int rounds = check_rounds(3000);
    counter = timeouts = 0;
    for (int i = 0; i < leavers + steady; i++)
        threads[i] = check_start(i < leavers ? racing_body : steady_body, &rounds);
    for (int i = 0; i < leavers + steady; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter + timeouts, (long)(leavers + steady) * rounds);
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void storm_of_two(void)
{
    storm(2, 0);
}

static void storm_with_lock_and_trylock(void)
{
    storm(2, 2);
}

static void storm_of_many(void)
{
    storm(LEAVERS, 2);
}

/* Thousands of abandoned waits for a lock that stays held leave no memory behind. */
static void abandoned_waits(void)
{
    struct timespec past = check_after_ms(CLOCK_MONOTONIC, -1);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < 5000; i++)
        CHECK_RETURNS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past),
                      ETIMEDOUT);
    for (int i = 0; i < check_rounds(500); i++) {
        struct timespec soon = check_after_us(CLOCK_MONOTONIC, 50);
        CHECK_RETURNS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon),
                      ETIMEDOUT);
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

CHECK_MAIN(CASE(alone), CASE(at_the_head), CASE(in_the_middle), CASE(at_the_tail),
           CASE(everywhere), CASE(storm_of_two), CASE(storm_with_lock_and_trylock),
           CASE(storm_of_many), CASE(abandoned_waits))
