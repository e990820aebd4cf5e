/* SPDX-License-Identifier: MIT */
/*
 * A program built with ThreadSanitizer, which derives happens-before from the pthread
 * calls only. In the correct case, any report means that a lock was hidden from the
 * sanitizer. The wrong case has a race; if there is no report, the locks order more
 * than they should.
 */
#include "check.h"

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static long timed_counter;
static int turn;

static void *body(void *argument)
{
    long me = (long)argument;
    for (int i = 0; i < 300; i++) {
        struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_mutex_timedlock(&recursive, &late));
        CHECK_OK(pthread_mutex_lock(&recursive));
        timed_counter++;
        CHECK_OK(pthread_mutex_unlock(&recursive));
        CHECK_OK(pthread_mutex_unlock(&recursive));
        if (pthread_mutex_trylock(&mutex) == 0) {
            counter += 0;
            CHECK_OK(pthread_mutex_unlock(&mutex));
        }
    }
    for (int i = 0; i < 30; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        while (turn % THREADS != me) {
            struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
            if (i % 2)
                CHECK_OK(pthread_cond_wait(&cond, &mutex));
            else
                CHECK_OK(pthread_cond_timedwait(&cond, &mutex, &late));
        }
        turn++;
        CHECK_OK(pthread_cond_broadcast(&cond));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void locks_and_condvar(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        threads[i] = check_start(body, (void *)i);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, THREADS * 300);
    CHECK_EQUAL(timed_counter, THREADS * 300);
    CHECK_OK(pthread_cond_destroy(&cond));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static pthread_mutex_t wrong_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *race(void *own_mutex)
{
    for (int i = 0; i < 100; i++) {
        CHECK_OK(pthread_mutex_lock(own_mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(own_mutex));
        /* The waiting and parking in between must not hide the race. */
        CHECK_OK(pthread_mutex_lock(&recursive));
        if (i % 10 == 0)
            check_sleep_us(100);
        CHECK_OK(pthread_mutex_unlock(&recursive));
    }
    return NULL;
}

/* Two threads count with a lock held, but not the same lock. */
static void wrong_lock_is_taken(void)
{
    pthread_t first = check_start(race, &mutex);
    pthread_t second = check_start(race, &wrong_mutex);
    check_join(first);
    check_join(second);
}

CHECK_MAIN(CASE(locks_and_condvar), CASE(wrong_lock_is_taken))
