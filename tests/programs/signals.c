/* SPDX-License-Identifier: MIT */
/* Signal handlers that run while a thread waits: no call ever returns EINTR. */
#include <signal.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pid_t queued;
static int handled;
static int returned;
static int go;
static long inner_counter;

enum what { LOCK, TIMEDLOCK, WAIT, TIMEDWAIT, CLOCKWAIT };

static void count_signal(int number)
{
    (void)number;
    check_add(&handled, 1);
}

/* The handler locks another mutex, which POSIX does not allow, but which works with the
 * C library. */
static void lock_in_handler(int number)
{
    (void)number;
    CHECK_OK(pthread_mutex_lock(&inner));
    inner_counter++;
    CHECK_OK(pthread_mutex_unlock(&inner));
    check_add(&handled, 1);
}

static void install(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
}

static void *body(void *argument)
{
    enum what what = *(enum what *)argument;
    struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
    struct timespec later = check_after_ms(CLOCK_MONOTONIC, 60000);
    if (what == TIMEDLOCK) {
        check_publish(&queued);
        CHECK_OK(pthread_mutex_timedlock(&mutex, &late));
    } else {
        if (what == LOCK)
            check_publish(&queued);
        CHECK_OK(pthread_mutex_lock(&mutex));
    }
    if (what >= WAIT)
        check_publish(&queued);
    while (what >= WAIT && !go) {
        if (what == WAIT)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
        else if (what == TIMEDWAIT)
            CHECK_OK(pthread_cond_timedwait(&cond, &mutex, &late));
        else
            CHECK_OK(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &later));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_set(&returned, 1);
    return NULL;
}

/* Sends signals one at a time to a waiting thread, then lets it go. */
static void interrupt(enum what what, int count)
{
    queued = handled = returned = go = 0;
    if (what < WAIT)
        CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_t thread = check_start(body, &what);
    check_wait_queued(&queued);
    for (int i = 1; i <= count; i++) {
        CHECK_OK(pthread_kill(thread, SIGUSR1));
        CHECK_UNTIL(check_get(&handled) == i);
    }
    CHECK_EQUAL(check_get(&returned), 0);
    if (what >= WAIT) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        go = 1;
        CHECK_OK(pthread_cond_signal(&cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void every_wait(int flags)
{
    install(count_signal, flags);
    for (enum what what = LOCK; what <= CLOCKWAIT; what++)
        interrupt(what, 30);
}

static void interrupting(void)
{
    every_wait(0);
}

static void restarting(void)
{
    every_wait(SA_RESTART);
}

static void *inner_body(void *ignored)
{
    (void)ignored;
    while (!check_get(&returned)) {
        CHECK_OK(pthread_mutex_lock(&inner));
        inner_counter++;
        check_sleep_us(50);
        CHECK_OK(pthread_mutex_unlock(&inner));
        check_sleep_us(20);
    }
    return NULL;
}

/* The handler waits for a lock of its own while its thread is queued on another. */
static void handler_waits_for_another_lock(void)
{
    install(lock_in_handler, 0);
    for (enum what what = LOCK; what <= CLOCKWAIT; what++) {
        returned = 0;
        pthread_t holder = check_start(inner_body, NULL);
        interrupt(what, 20);
        check_join(holder);
    }
}

static void *timed_body(void *argument)
{
    int on_cond = *(int *)argument;
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 60);
    check_publish(&queued);
    if (on_cond) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        int result;
        do
            result = pthread_cond_timedwait(&cond, &mutex, &soon);
        while (result == 0);
        CHECK_RETURNS(result, ETIMEDOUT);
        CHECK_OK(pthread_mutex_unlock(&mutex));
    } else {
        CHECK_RETURNS(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
    }
    CHECK_COMPARE(check_now_ns(CLOCK_REALTIME), >=,
                  soon.tv_sec * 1000000000LL + soon.tv_nsec);
    check_set(&returned, 1);
    return NULL;
}

/* Interruptions neither shorten nor restart the time limit. */
static void deadline_is_kept(void)
{
    install(count_signal, 0);
    for (int on_cond = 0; on_cond < 2; on_cond++) {
        queued = returned = 0;
        if (!on_cond)
            CHECK_OK(pthread_mutex_lock(&mutex));
        pthread_t thread = check_start(timed_body, &on_cond);
        CHECK_UNTIL(check_get(&queued));
        while (!check_get(&returned)) {
            CHECK_OK(pthread_kill(thread, SIGUSR1));
            check_sleep_us(300);
        }
        check_join(thread);
        if (!on_cond)
            CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

static int stop;

static void *busy_body(void *counter)
{
    while (!check_get(&stop)) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        ++*(long *)counter;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

/* Signals arrive at any point of a contended lock and unlock. */
static void bombarded(void)
{
    static long counter;
    install(count_signal, SA_RESTART);
    pthread_t threads[2] = {check_start(busy_body, &counter),
                            check_start(busy_body, &counter)};
    for (int i = 0; i < 300; i++) {
        CHECK_OK(pthread_kill(threads[i % 2], SIGUSR1));
        check_sleep_us(50);
    }
    check_set(&stop, 1);
    check_join(threads[0]);
    check_join(threads[1]);
    CHECK_COMPARE(check_get(&handled), >, 0);
}

CHECK_MAIN(CASE(interrupting), CASE(restarting), CASE(handler_waits_for_another_lock),
           CASE(deadline_is_kept), CASE(bombarded))
