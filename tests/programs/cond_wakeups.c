/* SPDX-License-Identifier: MIT */
/* Condition variables lose no wake-up, in whatever way they are signalled and
 * shared. */
#include "check.h"

enum { MANY = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_cond_t conds[MANY];
static int turn;
static int waiting;
static int tokens;
static int taken;
static int rounds;

static void *turn_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        while (turn != 1)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
        turn = 0;
        CHECK_OK(pthread_cond_signal(&cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void ping_pong(void)
{
    rounds = check_rounds(5000);
    pthread_t thread = check_start(turn_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        turn = 1;
        CHECK_OK(pthread_cond_signal(&cond));
        while (turn != 0)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    CHECK_OK(pthread_cond_destroy(&cond));
}

static void *turn_outside_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        while (turn != 1)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
        turn = 0;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_cond_signal(&conds[0]));
    }
    return NULL;
}

static void signal_without_the_mutex(void)
{
    rounds = check_rounds(5000);
    pthread_t thread = check_start(turn_outside_body, NULL);
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        turn = 1;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_cond_signal(&cond));
        CHECK_OK(pthread_mutex_lock(&mutex));
        while (turn != 0)
            CHECK_OK(pthread_cond_wait(&conds[0], &mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    check_join(thread);
}

static void *take_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    waiting++;
    while (tokens == 0)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    tokens--;
    taken++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void start_takers(pthread_t *threads)
{
    waiting = tokens = taken = 0;
    for (int i = 0; i < MANY; i++)
        threads[i] = check_start(take_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    while (waiting < MANY) {
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_sleep_us(100);
        CHECK_OK(pthread_mutex_lock(&mutex));
    }
}

/* One signal per waiter, all sent while the mutex is held, wakes all waiters. */
static void one_signal_each(void)
{
    for (int i = 0; i < check_rounds(50); i++) {
        pthread_t threads[MANY];
        start_takers(threads);
        for (int j = 0; j < MANY; j++) {
            tokens++;
            CHECK_OK(pthread_cond_signal(&cond));
        }
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int j = 0; j < MANY; j++)
            check_join(threads[j]);
        CHECK_EQUAL(taken, MANY);
    }
}

static void one_broadcast_for_all(void)
{
    for (int i = 0; i < check_rounds(50); i++) {
        pthread_t threads[MANY];
        start_takers(threads);
        tokens = MANY;
        CHECK_OK(pthread_cond_broadcast(&cond));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int j = 0; j < MANY; j++)
            check_join(threads[j]);
        CHECK_EQUAL(taken, MANY);
    }
}

/* Broadcasts while the waiters of the previous broadcast are still reacquiring the
 * mutex. */
static void broadcast_after_broadcast(void)
{
    for (int i = 0; i < check_rounds(50); i++) {
        pthread_t threads[MANY];
        start_takers(threads);
        for (int j = 0; j < MANY; j++) {
            tokens = 1;
            CHECK_OK(pthread_cond_broadcast(&cond));
            while (tokens) {
                CHECK_OK(pthread_mutex_unlock(&mutex));
                sched_yield();
                CHECK_OK(pthread_mutex_lock(&mutex));
            }
        }
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int j = 0; j < MANY; j++)
            check_join(threads[j]);
    }
}

/* One mutex and one condvar per thread: each thread wakes the next one in a ring. */
static void *ring_body(void *argument)
{
    int me = (int)(long)argument;
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        while (turn != me)
            CHECK_OK(pthread_cond_wait(&conds[me], &mutex));
        turn = (me + 1) % MANY;
        CHECK_OK(pthread_cond_signal(&conds[turn]));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void many_conds_one_mutex(void)
{
    pthread_t threads[MANY];
    rounds = check_rounds(500);
    for (long i = 0; i < MANY; i++)
        threads[i] = check_start(ring_body, (void *)i);
    for (int i = 0; i < MANY; i++)
        check_join(threads[i]);
    CHECK_EQUAL(turn, 0);
}

/* Uses the same condvar with two mutexes, one after the other. */
static void successive_mutexes(void)
{
    for (int i = 0; i < 20; i++) {
        pthread_t threads[MANY];
        start_takers(threads);
        tokens = MANY;
        CHECK_OK(pthread_cond_broadcast(&cond));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int j = 0; j < MANY; j++)
            check_join(threads[j]);
        CHECK_OK(pthread_mutex_destroy(&mutex));
        /* Odd rounds use another kind, so that the waits do not take the same path by
         * chance. */
        pthread_mutexattr_t attributes;
        CHECK_OK(pthread_mutexattr_init(&attributes));
        CHECK_OK(pthread_mutexattr_settype(
            &attributes, i % 2 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK));
        CHECK_OK(pthread_mutex_init(&mutex, &attributes));
    }
}

static void nobody_waits(void)
{
    for (int i = 0; i < 100000; i++) {
        CHECK_OK(pthread_cond_signal(&cond));
        CHECK_OK(pthread_cond_broadcast(&cond));
    }
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 20);
    CHECK_OK(pthread_mutex_lock(&mutex));
    /* Signals sent before the wait have no effect on it. */
    CHECK_RETURNS(pthread_cond_timedwait(&cond, &mutex, &soon), ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

CHECK_MAIN(CASE(ping_pong), CASE(signal_without_the_mutex), CASE(one_signal_each),
           CASE(one_broadcast_for_all), CASE(broadcast_after_broadcast),
           CASE(many_conds_one_mutex), CASE(successive_mutexes), CASE(nobody_waits))
