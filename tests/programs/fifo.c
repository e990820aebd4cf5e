/* SPDX-License-Identifier: MIT */
/* Locks declared FIFO serve their waiters strictly in the order of arrival. */
#include "check.h"

enum { WAITERS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int order[2 * WAITERS + 2];
static int served;

struct waiter {
    int number;
    long timeout_ms;
    pid_t queued;
};

static void require_fifo(void)
{
    if (getenv("CHECK_FIFO") == NULL)
        check_skip("this lock is not declared FIFO");
}

static void *wait_body(void *argument)
{
    struct waiter *waiter = argument;
    struct timespec deadline = check_after_ms(CLOCK_MONOTONIC, waiter->timeout_ms);
    check_publish(&waiter->queued);
    if (waiter->timeout_ms < 0)
        CHECK_OK(pthread_mutex_lock(&mutex));
    else if (pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT)
        return NULL;
    order[served++] = waiter->number;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void arrive(struct waiter *waiters, pthread_t *threads)
{
    for (int i = 0; i < WAITERS; i++) {
        waiters[i].number = i + 1;
        waiters[i].queued = 0;
        threads[i] = check_start(wait_body, &waiters[i]);
        check_wait_queued(&waiters[i].queued);
    }
}

static void in_order_of_arrival(void)
{
    require_fifo();
    for (int round = 0; round < 5; round++) {
        struct waiter waiters[WAITERS];
        pthread_t threads[WAITERS];
        for (int i = 0; i < WAITERS; i++)
            waiters[i].timeout_ms = -1;
        served = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        arrive(waiters, threads);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        for (int i = 0; i < WAITERS; i++)
            CHECK_EQUAL(order[i], i + 1);
    }
}

/* The releasing thread queues again at once, awake and on a CPU, and is served last. */
static void releaser_goes_to_the_end(void)
{
    require_fifo();
    for (int round = 0; round < 5; round++) {
        struct waiter waiters[WAITERS];
        pthread_t threads[WAITERS];
        for (int i = 0; i < WAITERS; i++)
            waiters[i].timeout_ms = -1;
        served = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        arrive(waiters, threads);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_mutex_lock(&mutex));
        order[served++] = 0;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        for (int i = 0; i < WAITERS; i++)
            CHECK_EQUAL(order[i], i + 1);
        CHECK_EQUAL(order[WAITERS], 0);
    }
}

/* Waiters that timed out are skipped; the others keep their order. */
static void leavers_change_nothing(void)
{
    require_fifo();
    for (int round = 0; round < 3; round++) {
        struct waiter waiters[WAITERS];
        pthread_t threads[WAITERS];
        for (int i = 0; i < WAITERS; i++)
            waiters[i].timeout_ms = i % 2 ? 5 + round : -1;
        served = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        arrive(waiters, threads);
        for (int i = 1; i < WAITERS; i += 2)
            check_join(threads[i]);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int i = 0; i < WAITERS; i += 2)
            check_join(threads[i]);
        CHECK_EQUAL(served, (WAITERS + 1) / 2);
        for (int i = 0; i < served; i++)
            CHECK_EQUAL(order[i], 2 * i + 1);
    }
}

CHECK_MAIN(CASE(in_order_of_arrival), CASE(releaser_goes_to_the_end),
           CASE(leavers_change_nothing))
