/* SPDX-License-Identifier: MIT */
/* Cancelling threads in cond_wait: they reacquire the mutex and pass on the signal. */
#include "check.h"

#include <semaphore.h>

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t arrived; /* posted by each waiter that holds the mutex for its wait */
static int waiting;   /* arrived waiters that main has counted */
static pid_t sleepers[3]; /* the waiters of cancel_while() */
static int published;
static int cleaned;
static int woken;

/* The wait in which a thread is cancelled. */
struct wait {
    int clock; /* -1: cond_wait, -2: cond_timedwait, else cond_clockwait's clock */
    int type; /* type of cancellation */
};

static int mutex_shared = PTHREAD_PROCESS_PRIVATE;

static void set_up(int kind)
{
    pthread_mutexattr_t attributes;
    CHECK_OK(sem_init(&arrived, 0, 0));
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_setpshared(&attributes, mutex_shared));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutex_init(&mutex, &attributes));
}

static void clean_up(void *kind)
{
    /* Succeeds for an error-checking mutex only if this thread owns it again. */
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_add(&cleaned, 1);
    (void)kind;
}

static void *wait_body(void *argument)
{
    struct wait *wait = argument;
    int before;
    CHECK_OK(pthread_setcanceltype(wait->type, &before));
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(clean_up, NULL);
    check_publish(&sleepers[published++]);
    CHECK_OK(sem_post(&arrived));
    for (;;) {
        struct timespec late = check_after_ms(
            wait->clock < 0 ? CLOCK_REALTIME : (clockid_t)wait->clock, 60000);
        if (wait->clock == -1)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
        else if (wait->clock == -2)
            CHECK_OK(pthread_cond_timedwait(&cond, &mutex, &late));
        else
            CHECK_OK(pthread_cond_clockwait(&cond, &mutex, wait->clock, &late));
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* Returns when `count` threads have been counted in all, and wait. A loop that polled
 * would cost a time slice each time on a busy machine. */
static void wait_for_waiters(int count)
{
    for (; waiting < count; waiting++)
        CHECK_OK(sem_wait(&arrived));
    CHECK_OK(pthread_mutex_lock(&mutex)); /* the wait of the last one releases it */
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void cancel_while(int held, struct wait wait)
{
    pthread_t threads[3];
    for (int round = 0; round < 10; round++) {
        waiting = published = cleaned = 0;
        memset(sleepers, 0, sizeof sleepers);
        for (int i = 0; i < 3; i++)
            threads[i] = check_start(wait_body, &wait);
        wait_for_waiters(3);
        /* glibc's wait is safe from asynchronous cancellation only while it sleeps. */
        for (int i = 0; i < 3 && wait.type == PTHREAD_CANCEL_ASYNCHRONOUS; i++)
            check_wait_queued(&sleepers[i]);
        if (held)
            CHECK_OK(pthread_mutex_lock(&mutex));
        for (int i = 0; i < 3; i++)
            CHECK_OK(pthread_cancel(threads[i]));
        if (held) {
            /* The waiters are cancelled, but cannot continue until they own the
             * mutex. */
            check_sleep_ms(1);
            CHECK_EQUAL(check_get(&cleaned), 0);
            CHECK_OK(pthread_mutex_unlock(&mutex));
        }
        for (int i = 0; i < 3; i++)
            CHECK(check_join(threads[i]) == PTHREAD_CANCELED);
        CHECK_EQUAL(cleaned, 3);
        CHECK_OK(pthread_mutex_trylock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

static void every_wait(int kind, int type)
{
    int clocks[] = {-1, -2, CLOCK_REALTIME, CLOCK_MONOTONIC};
    set_up(kind);
    for (int i = 0; i < 4; i++) {
        cancel_while(0, (struct wait){clocks[i], type});
        cancel_while(1, (struct wait){clocks[i], type});
    }
    CHECK_OK(pthread_mutex_destroy(&mutex));
    CHECK_OK(pthread_cond_destroy(&cond));
}

static void deferred(void)
{
    every_wait(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_CANCEL_DEFERRED);
}

static void deferred_plain_mutex(void)
{
    every_wait(PTHREAD_MUTEX_DEFAULT, PTHREAD_CANCEL_DEFERRED);
}

static void asynchronous(void)
{
    every_wait(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_CANCEL_ASYNCHRONOUS);
}

/* Waits in which the mutex or the condvar is passed through to the C library. */
static void shared_mutex(void)
{
    mutex_shared = PTHREAD_PROCESS_SHARED;
    every_wait(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_CANCEL_DEFERRED);
}

static void shared_condvar(void)
{
    pthread_condattr_t attributes;
    CHECK_OK(pthread_condattr_init(&attributes));
    CHECK_OK(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_cond_init(&cond, &attributes));
    every_wait(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_CANCEL_DEFERRED);
}

/* A cancellation that is pending before the call takes effect in it, with the mutex
 * held. */
static void *pending_body(void *ignored)
{
    int state;
    (void)ignored;
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state));
    CHECK_OK(pthread_cancel(pthread_self()));
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(clean_up, NULL);
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state));
    CHECK_OK(pthread_cond_wait(&cond, &mutex));
    CHECK(!"cond_wait returned");
    pthread_cleanup_pop(1);
    return NULL;
}

static void pending_before_the_call(void)
{
    set_up(PTHREAD_MUTEX_ERRORCHECK);
    CHECK(check_join(check_start(pending_body, NULL)) == PTHREAD_CANCELED);
    CHECK_EQUAL(cleaned, 1);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void *disabled_body(void *ignored)
{
    int state;
    (void)ignored;
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state));
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(sem_post(&arrived));
    while (!woken)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return &woken;
}

static void disabled(void)
{
    set_up(PTHREAD_MUTEX_ERRORCHECK);
    pthread_t thread = check_start(disabled_body, NULL);
    wait_for_waiters(1);
    CHECK_OK(pthread_cancel(thread));
    check_sleep_ms(5);
    CHECK_OK(pthread_mutex_lock(&mutex));
    woken = 1;
    CHECK_OK(pthread_cond_signal(&cond));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK(check_join(thread) == &woken);
}

/* Waits once, and notes that the wait returned. The thread's result does not show it:
 * glibc sends a signal to cancel; one that arrives after the thread's function has
 * returned sets the result to PTHREAD_CANCELED all the same. */
static void *wait_once(void *returned)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(clean_up, NULL);
    CHECK_OK(sem_post(&arrived));
    CHECK_OK(pthread_cond_wait(&cond, &mutex));
    check_set((int *)returned, 1);
    pthread_cleanup_pop(1);
    return NULL;
}

/*
 * Sends one signal and one cancellation at the same moment. If the cancelled thread
 * does not return from its wait, the signal must wake the other one.
 */
static void signal_is_passed_on(void)
{
    set_up(PTHREAD_MUTEX_ERRORCHECK);
    for (int round = 0; round < check_rounds(400); round++) {
        int victim_returned = 0, other_returned = 0;
        waiting = 0;
        pthread_t victim = check_start(wait_once, &victim_returned);
        if (round % 2)
            wait_for_waiters(1);
        pthread_t other = check_start(wait_once, &other_returned);
        wait_for_waiters(2);
        if (round % 4 < 2)
            CHECK_OK(pthread_mutex_lock(&mutex));
        if (round % 8 < 4)
            CHECK_OK(pthread_cond_signal(&cond));
        CHECK_OK(pthread_cancel(victim));
        if (round % 8 >= 4)
            CHECK_OK(pthread_cond_signal(&cond));
        if (round % 4 < 2)
            CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(victim);
        if (check_get(&victim_returned))
            CHECK_OK(pthread_cond_signal(&cond));
        check_join(other);
        CHECK(check_get(&other_returned));
    }
}

CHECK_MAIN(CASE(deferred), CASE(deferred_plain_mutex), CASE(asynchronous),
           CASE(shared_mutex), CASE(shared_condvar), CASE(pending_before_the_call),
           CASE(disabled), CASE(signal_is_passed_on))
