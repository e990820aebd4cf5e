/* SPDX-License-Identifier: MIT */
/* Forks while other threads wait on a condition variable that the child continues to
 * use. */
#include "check.h"

enum { WAITERS = 3, CHILD_THREADS = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting;
static int tokens;
static int taken;
static int timed;

static void *take_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    waiting++;
    while (tokens == 0) {
        struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
        CHECK_OK(timed ? pthread_cond_timedwait(&cond, &mutex, &late)
                       : pthread_cond_wait(&cond, &mutex));
    }
    tokens--;
    taken++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/* Returns with the mutex held and `count` threads waiting. */
static void start_takers(pthread_t *threads, int count)
{
    waiting = tokens = taken = 0;
    for (int i = 0; i < count; i++)
        threads[i] = check_start(take_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    while (waiting < count) {
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_sleep_us(100);
        CHECK_OK(pthread_mutex_lock(&mutex));
    }
}

/* Wakes `count` takers, by one broadcast or by signals. The caller holds the mutex. */
static void release_takers(pthread_t *threads, int count, int by_broadcast)
{
    tokens = count;
    if (by_broadcast)
        CHECK_OK(pthread_cond_broadcast(&cond));
    else
        for (int i = 0; i < count; i++)
            CHECK_OK(pthread_cond_signal(&cond));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < count; i++)
        check_join(threads[i]);
    CHECK_EQUAL(taken, count);
    CHECK_EQUAL(tokens, 0);
}

static void rounds_in_child(void)
{
    pthread_t threads[CHILD_THREADS];
    for (int i = 0; i < 10; i++) {
        start_takers(threads, CHILD_THREADS);
        release_takers(threads, CHILD_THREADS, i % 2);
    }
}

static void child_initialises(void)
{
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cond_init(&cond, NULL));
    rounds_in_child();
    CHECK_OK(pthread_cond_destroy(&cond));
}

/* The child's threads wait in queues that still hold the parent's waiters; one
 * broadcast wakes all of them. */
static void child_broadcasts_once(void)
{
    pthread_t threads[CHILD_THREADS];
    CHECK_OK(pthread_mutex_unlock(&mutex));
    start_takers(threads, CHILD_THREADS);
    release_takers(threads, CHILD_THREADS, 1);
}

static void child_signals_once(void)
{
    pthread_t thread;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    start_takers(&thread, 1);
    release_takers(&thread, 1, 0);
}

static void child_goes_on(void)
{
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cond_broadcast(&cond));
    CHECK_OK(pthread_cond_signal(&cond));
    rounds_in_child();
    CHECK_OK(pthread_cond_destroy(&cond));
}

static void child_times_out(void)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    CHECK_RETURNS(pthread_cond_timedwait(&cond, &mutex, &soon), ETIMEDOUT);
    child_broadcasts_once();
}

static void fork_while_waiting(void (*child_body)(void))
{
    for (int round = 0; round < 4; round++) {
        pthread_t threads[WAITERS];
        start_takers(threads, WAITERS);
        pid_t child = fork();
        if (child == 0) {
            child_body();
            _exit(0);
        }
        /* The child's wake-ups must not reach the parent's waiters. */
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_child(child);
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_EQUAL(taken, 0);
        release_takers(threads, WAITERS, round % 2);
    }
}

static void initialised_in_child(void)
{
    fork_while_waiting(child_initialises);
}

static void broadcast_in_child(void)
{
    fork_while_waiting(child_broadcasts_once);
}

static void signal_in_child(void)
{
    fork_while_waiting(child_signals_once);
}

static void timed_waiters(void)
{
    timed = 1;
    fork_while_waiting(child_broadcasts_once);
}

static void timeout_in_child(void)
{
    fork_while_waiting(child_times_out);
}

static void used_as_before_in_child(void)
{
    check_beyond_glibc(
        "the C library waits for the parent's waiters at the next broadcast");
    fork_while_waiting(child_goes_on);
    timed = 1;
    fork_while_waiting(child_goes_on);
}

static void prepare(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
}

static void release(void)
{
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void atfork_handlers(void)
{
    CHECK_OK(pthread_atfork(prepare, release, release));
    for (int round = 0; round < 4; round++) {
        pthread_t threads[WAITERS];
        start_takers(threads, WAITERS);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        pid_t child = fork();
        if (child == 0) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            child_broadcasts_once();
            _exit(0);
        }
        check_child(child);
        CHECK_OK(pthread_mutex_lock(&mutex));
        release_takers(threads, WAITERS, 1);
    }
}

/* Woken threads queue on the mutex that the forking broadcaster still holds. */
static void broadcast_then_fork(void)
{
    for (int round = 0; round < 4; round++) {
        pthread_t threads[WAITERS];
        start_takers(threads, WAITERS);
        tokens = WAITERS;
        CHECK_OK(pthread_cond_broadcast(&cond));
        if (round % 2)
            check_sleep_ms(5);
        pid_t child = fork();
        if (child == 0) {
            child_initialises();
            _exit(0);
        }
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        CHECK_EQUAL(taken, WAITERS);
        check_child(child);
    }
}

CHECK_MAIN(CASE(initialised_in_child), CASE(broadcast_in_child), CASE(signal_in_child),
           CASE(timed_waiters), CASE(timeout_in_child), CASE(used_as_before_in_child),
           CASE(atfork_handlers), CASE(broadcast_then_fork))
