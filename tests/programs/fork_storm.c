/* SPDX-License-Identifier: MIT */
/*
 * Forks while other threads are anywhere in lock, timed lock, unlock and condition
 * waits on a mutex that the forking thread holds. Their unfinished operations must not
 * affect the child.
 */
#include "check.h"

enum { BUSY = 3, CHILD_THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int turn;
static int stop;

static void *lock_body(void *ignored)
{
    (void)ignored;
    while (!check_get(&stop)) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        if (check_lock_spins())
            check_sleep_us(20);
    }
    return NULL;
}

static void *timed_body(void *ignored)
{
    unsigned dice = (unsigned)gettid();
    (void)ignored;
    while (!check_get(&stop)) {
        dice = dice * 1103515245 + 12345;
        struct timespec soon = check_after_us(CLOCK_MONOTONIC, dice >> 16 & 63);
        if (pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon) == 0) {
            counter++;
            CHECK_OK(pthread_mutex_unlock(&mutex));
        }
        if (check_lock_spins())
            check_sleep_us(20);
    }
    return NULL;
}

static void *wait_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    while (!check_get(&stop)) {
        struct timespec soon = check_after_us(CLOCK_REALTIME, 100);
        int result = pthread_cond_timedwait(&cond, &mutex, &soon);
        CHECK(result == 0 || result == ETIMEDOUT);
        CHECK_OK(pthread_cond_broadcast(&cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *count_body(void *rounds)
{
    for (int i = 0; i < *(int *)rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        long before = counter;
        check_dawdle(before);
        counter = before + 1;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void *turn_body(void *rounds)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < *(int *)rounds; i++) {
        while (turn != 1)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
        turn = 0;
        CHECK_OK(pthread_cond_signal(&cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/* Runs in the child, which holds the mutex. */
static void in_child(void)
{
    pthread_t threads[CHILD_THREADS];
    int rounds = check_rounds(300);
    CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
    counter = turn = 0;
    for (int i = 0; i < CHILD_THREADS; i++)
        threads[i] = check_start(count_body, &rounds);
    /* Unlocks the mutex while the others arrive. */
    sched_yield();
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < CHILD_THREADS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, (long)CHILD_THREADS * rounds);

    CHECK_OK(pthread_cond_init(&cond, NULL));
    threads[0] = check_start(turn_body, &rounds);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        turn = 1;
        CHECK_OK(pthread_cond_signal(&cond));
        while (turn != 0)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(threads[0]);
    _exit(0);
}

static void storm(void *(*body)(void *), pid_t (*make_child)(void),
                  void (*child_body)(void))
{
    pthread_t threads[BUSY];
    for (int i = 0; i < BUSY; i++)
        threads[i] = check_start(body, NULL);
    for (int round = 0; round < 12; round++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        if (round % 2)
            check_sleep_us(50);
        pid_t child = make_child();
        if (child == 0)
            child_body();
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_child(child);
    }
    check_set(&stop, 1);
    for (int i = 0; i < BUSY; i++)
        check_join(threads[i]);
}

static void amid_locking(void)
{
    storm(lock_body, fork, in_child);
}

static void amid_timed_locking(void)
{
    storm(timed_body, fork, in_child);
}

static void amid_waiting(void)
{
    storm(wait_body, fork, in_child);
}

/* No fork handlers run, so the child cannot create threads. */
static void in_bare_child(void)
{
    struct timespec soon = check_after_us(CLOCK_MONOTONIC, 50);
    CHECK_RETURNS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < 20; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_mutex_trylock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    _exit(0);
}

static void amid_locking_without_handlers(void)
{
    storm(lock_body, _Fork, in_bare_child);
}

static void amid_timed_locking_without_handlers(void)
{
    storm(timed_body, _Fork, in_bare_child);
}

CHECK_MAIN(CASE(amid_locking), CASE(amid_timed_locking), CASE(amid_waiting),
           CASE(amid_locking_without_handlers),
           CASE(amid_timed_locking_without_handlers))
