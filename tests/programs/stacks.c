/* SPDX-License-Identifier: MIT */
/* Threads with the smallest stack that POSIX allows lock, wait, time out and
 * contend. */
#include "check.h"

enum { SMALLEST = 16384, THREADS = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int waiting;
static int go;
static int rounds;

static pthread_t start_small(void *(*body)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK_OK(pthread_attr_init(&attributes));
    CHECK_OK(pthread_attr_setstacksize(&attributes, SMALLEST));
    CHECK_OK(pthread_create(&thread, &attributes, body, NULL));
    CHECK_OK(pthread_attr_destroy(&attributes));
    return thread;
}

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_small(body);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
}

static void *contend_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void contend(void)
{
    rounds = check_rounds(3000);
    run(contend_body);
    CHECK_EQUAL(counter, (long)THREADS * rounds);
}

static void *timed_body(void *ignored)
{
    (void)ignored;
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 5);
    CHECK_RETURNS(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
    soon = check_after_ms(CLOCK_MONOTONIC, 5);
    CHECK_RETURNS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
    return NULL;
}

static void time_out(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    run(timed_body);
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void *wait_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    waiting++;
    while (!go) {
        struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
        CHECK_OK(waiting % 2 ? pthread_cond_wait(&cond, &mutex)
                             : pthread_cond_timedwait(&cond, &mutex, &late));
    }
    counter++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void wait_on_a_condvar(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_small(wait_body);
    for (int done = 0; !done;) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        done = waiting == THREADS;
        if (done) {
            go = 1;
            CHECK_OK(pthread_cond_broadcast(&cond));
        }
        CHECK_OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, THREADS);
}

static void unlock(void *held)
{
    CHECK_OK(pthread_mutex_unlock(held));
}

static void *cancelled_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(unlock, &mutex);
    waiting++;
    for (;;)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    pthread_cleanup_pop(1);
    return NULL;
}

static void cancelled(void)
{
    for (int round = 0; round < 5; round++) {
        waiting = 0;
        pthread_t thread = start_small(cancelled_body);
        for (int ready = 0; !ready;) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            ready = waiting;
            CHECK_OK(pthread_mutex_unlock(&mutex));
            sched_yield();
        }
        CHECK_OK(pthread_cancel(thread));
        CHECK(check_join(thread) == PTHREAD_CANCELED);
        CHECK_OK(pthread_mutex_trylock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

CHECK_MAIN(CASE(contend), CASE(time_out), CASE(wait_on_a_condvar), CASE(cancelled))
