/* SPDX-License-Identifier: MIT */
/* Forks while other threads queue on a mutex that the forking thread holds. */

#include "check.h"

enum { WAITERS = 3, CHILD_THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static long timeout_ms = -1;

static void *wait_body(void *queued)
{
    check_publish(queued);
    if (timeout_ms < 0) {
        CHECK_OK(pthread_mutex_lock(&mutex));
    } else {
        struct timespec late = check_after_ms(CLOCK_MONOTONIC, timeout_ms);
        CHECK_OK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &late));
    }
    counter++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *count_body(void *rounds)
{
    for (int i = 0; i < *(int *)rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

/* Lets threads of this process contend; the parent's waiters do not exist here. */
static void contend(void)
{
    pthread_t threads[CHILD_THREADS];
    int rounds = check_rounds(500);
    counter = 0;
    for (int i = 0; i < CHILD_THREADS; i++)
        threads[i] = check_start(count_body, &rounds);
    for (int i = 0; i < CHILD_THREADS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, (long)CHILD_THREADS * rounds);
}

/* New waiters reuse stacks and nodes, and queue where the parent's waiters were. */
static void queue_up_again(void)
{
    pthread_t threads[WAITERS];
    pid_t queued[WAITERS] = {0};
    CHECK_OK(pthread_mutex_lock(&mutex));
    counter = 0;
    for (int i = 0; i < WAITERS; i++) {
        threads[i] = check_start(wait_body, &queued[i]);
        check_wait_queued(&queued[i]);
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, WAITERS);
}

static void in_child(int held)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    if (held) {
        CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
        CHECK_RETURNS(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    contend();
    queue_up_again();
    CHECK_OK(pthread_mutex_destroy(&mutex));
    CHECK_OK(pthread_mutex_init(&mutex, NULL));
    contend();
}

static void fork_with_waiters(int rounds, void (*child_body)(int))
{
    for (int round = 0; round < rounds; round++) {
        pthread_t threads[WAITERS];
        pid_t queued[WAITERS] = {0};
        counter = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        for (int i = 0; i < WAITERS; i++) {
            threads[i] = check_start(wait_body, &queued[i]);
            check_wait_queued(&queued[i]);
        }
        pid_t child = fork();
        if (child == 0) {
            child_body(1);
            _exit(0);
        }
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        CHECK_EQUAL(counter, WAITERS);
        check_child(child);
    }
}

static void holder_forks(void)
{
    fork_with_waiters(4, in_child);
}

static void holder_forks_timed_waiters(void)
{
    timeout_ms = 60000;
    fork_with_waiters(4, in_child);
}

/* The child of the child inherits the waiters of two generations. */
static void fork_again(int held)
{
    pthread_t thread;
    pid_t queued = 0;
    (void)held;
    thread = check_start(wait_body, &queued);
    check_wait_queued(&queued);
    pid_t grandchild = fork();
    if (grandchild == 0) {
        in_child(1);
        _exit(0);
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    check_child(grandchild);
    in_child(0);
}

static void grandchildren(void)
{
    fork_with_waiters(3, fork_again);
}

/* Fork handlers of the kind that libraries register: they lock before the fork, and
 * unlock after it in both processes. */
static void prepare(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
}

static void release(void)
{
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static int stop;

static void *busy_body(void *ignored)
{
    (void)ignored;
    while (!check_get(&stop)) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_sleep_us(10);
    }
    return NULL;
}

static void fork_under_handlers(void)
{
    const int rounds = check_lock_spins() ? 2 : 5;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = check_start(busy_body, NULL);
    for (int round = 0; round < rounds; round++) {
        pid_t child = fork();
        if (child == 0) {
            contend();
            queue_up_again();
            _exit(0);
        }
        check_child(child);
    }
    check_set(&stop, 1);
    for (int i = 0; i < 2; i++)
        check_join(threads[i]);
}

static void atfork_handlers(void)
{
    CHECK_OK(pthread_atfork(prepare, release, release));
    fork_under_handlers();
}

static void release_by_init(void)
{
    CHECK_OK(pthread_mutex_init(&mutex, NULL));
}

/* The child initialises the mutex again instead of unlocking it, as many programs
 * do. */
static void atfork_init_in_child(void)
{
    CHECK_OK(pthread_atfork(prepare, release, release_by_init));
    fork_under_handlers();
}

static void atfork_with_waiters(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t threads[WAITERS];
        pid_t queued[WAITERS] = {0};
        counter = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        for (int i = 0; i < WAITERS; i++) {
            threads[i] = check_start(wait_body, &queued[i]);
            check_wait_queued(&queued[i]);
        }
        if (round == 0)
            CHECK_OK(pthread_atfork(NULL, release, release));
        pid_t child = fork();
        if (child == 0) {
            in_child(0);
            _exit(0);
        }
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        check_child(child);
    }
}

CHECK_MAIN(CASE(holder_forks), CASE(holder_forks_timed_waiters), CASE(grandchildren),
           CASE(atfork_handlers), CASE(atfork_init_in_child), CASE(atfork_with_waiters))
