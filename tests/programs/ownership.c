/* SPDX-License-Identifier: MIT */
/* Mutexes unlocked by another thread, and threads that end while they hold one. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *lock_and_leave(void *queued)
{
    if (queued)
        check_publish(queued);
    CHECK_OK(pthread_mutex_lock(&mutex));
    counter++;
    pthread_exit(NULL);
}

static void *lock_unlock(void *queued)
{
    check_publish(queued);
    CHECK_OK(pthread_mutex_lock(&mutex));
    counter++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *unlock_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void unlocked_by_another(void)
{
    for (int i = 0; i < 200; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        check_join(check_start(unlock_body, NULL));
        CHECK_OK(pthread_mutex_trylock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

static void unlocked_by_another_with_waiters(void)
{
    for (int i = 0; i < 10; i++) {
        pthread_t waiters[3];
        counter = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        for (int j = 0; j < 3; j++) {
            pid_t queued = 0;
            waiters[j] = check_start(lock_unlock, &queued);
            check_wait_queued(&queued);
        }
        check_join(check_start(unlock_body, NULL));
        for (int j = 0; j < 3; j++)
            check_join(waiters[j]);
        CHECK_EQUAL(counter, 3);
    }
    CHECK_OK(check_try_elsewhere(&mutex));
}

/* Uses the mutex as a baton: one thread locks it and the other releases it, many
 * times. */
static pthread_mutex_t ping = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pong = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void *baton_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&ping));
        CHECK_EQUAL(counter, 2 * i);
        counter++;
        CHECK_OK(pthread_mutex_unlock(&pong));
    }
    return NULL;
}

static void baton(void)
{
    rounds = check_rounds(3000);
    CHECK_OK(pthread_mutex_lock(&ping));
    CHECK_OK(pthread_mutex_lock(&pong));
    pthread_t thread = check_start(baton_body, NULL);
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_mutex_unlock(&ping));
        CHECK_OK(pthread_mutex_lock(&pong));
        CHECK_EQUAL(counter, 2 * i + 1);
        counter++;
    }
    check_join(thread);
}

static pthread_t start_large(pid_t *queued)
{
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK_OK(pthread_attr_init(&attributes));
    /* A stack larger than the C library caches for the next thread, so it is unmapped
     * when the thread ends. */
    CHECK_OK(pthread_attr_setstacksize(&attributes, 64L << 20));
    CHECK_OK(pthread_create(&thread, &attributes, lock_and_leave, queued));
    return thread;
}

static void after_holder_left(void)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 20);
    CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
    CHECK_RETURNS(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
    CHECK_RETURNS(pthread_mutex_destroy(&mutex), EBUSY);

    pid_t queued = 0;
    pthread_t waiter = check_start(lock_unlock, &queued);
    check_wait_queued(&queued);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(waiter);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(check_try_elsewhere(&mutex));
}

static void exit_holding(void)
{
    for (int i = 0; i < 5; i++) {
        check_join(check_start(lock_and_leave, NULL));
        after_holder_left();
    }
}

static void exit_holding_large_stack(void)
{
    for (int i = 0; i < 5; i++) {
        check_join(start_large(NULL));
        after_holder_left();
    }
}

/* Before the holder ends, it had to queue for the mutex, and another thread queues
 * behind it. */
static void exit_holding_after_waiting(void)
{
    for (int i = 0; i < 5; i++) {
        pid_t first_queued = 0;
        pid_t second_queued = 0;
        counter = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        pthread_t first = start_large(&first_queued);
        check_wait_queued(&first_queued);
        pthread_t second = start_large(&second_queued);
        check_wait_queued(&second_queued);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_UNTIL(check_get(&counter) == 1);
        struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
        CHECK_RETURNS(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(first);
        check_join(second);
        CHECK_EQUAL(counter, 2);
        after_holder_left();
    }
}

CHECK_MAIN(CASE(unlocked_by_another), CASE(unlocked_by_another_with_waiters),
           CASE(baton), CASE(exit_holding), CASE(exit_holding_large_stack),
           CASE(exit_holding_after_waiting))
