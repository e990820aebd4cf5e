/* SPDX-License-Identifier: MIT */
/* C11 threads: mtx_*, cnd_*, call_once and their result codes. */
#include <threads.h>

#include "check.h"

enum { THREADS = 4 };

static mtx_t mutex;
static cnd_t cond;
static long counter;
static int turn;
static int rounds;
static once_flag once = ONCE_FLAG_INIT;
static int once_calls;

static int count_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        if (i % 3 == 0) {
            int result;
            while ((result = mtx_trylock(&mutex)) == thrd_busy)
                thrd_yield();
            CHECK_EQUAL(result, thrd_success);
        } else {
            CHECK_EQUAL(mtx_lock(&mutex), thrd_success);
        }
        long before = *(volatile long *)&counter;
        check_dawdle(before);
        *(volatile long *)&counter = before + 1;
        CHECK_EQUAL(mtx_unlock(&mutex), thrd_success);
    }
    return 7;
}

static void count(int type)
{
    thrd_t threads[THREADS];
    rounds = check_rounds(3000);
    CHECK_EQUAL(mtx_init(&mutex, type), thrd_success);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(thrd_create(&threads[i], count_body, NULL), thrd_success);
    for (int i = 0; i < THREADS; i++) {
        int result;
        CHECK_EQUAL(thrd_join(threads[i], &result), thrd_success);
        CHECK_EQUAL(result, 7);
    }
    CHECK_EQUAL(counter, (long)THREADS * rounds);
    mtx_destroy(&mutex);
}

static void plain(void)
{
    count(mtx_plain);
}

static void timed(void)
{
    count(mtx_timed);
}

static void recursive_counter(void)
{
    count(mtx_plain | mtx_recursive);
}

static int try_body(void *ignored)
{
    (void)ignored;
    int result = mtx_trylock(&mutex);
    if (result == thrd_success)
        CHECK_EQUAL(mtx_unlock(&mutex), thrd_success);
    return result;
}

static int try_elsewhere(void)
{
    thrd_t thread;
    int result;
    CHECK_EQUAL(thrd_create(&thread, try_body, NULL), thrd_success);
    CHECK_EQUAL(thrd_join(thread, &result), thrd_success);
    return result;
}

static void recursive(void)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 20);
    CHECK_EQUAL(mtx_init(&mutex, mtx_timed | mtx_recursive), thrd_success);
    CHECK_EQUAL(mtx_lock(&mutex), thrd_success);
    CHECK_EQUAL(mtx_lock(&mutex), thrd_success);
    CHECK_EQUAL(mtx_trylock(&mutex), thrd_success);
    CHECK_EQUAL(mtx_timedlock(&mutex, &soon), thrd_success);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(try_elsewhere(), thrd_busy);
        CHECK_EQUAL(mtx_unlock(&mutex), thrd_success);
    }
    CHECK_EQUAL(try_elsewhere(), thrd_success);
    CHECK_EQUAL(mtx_unlock(&mutex), thrd_error);
    mtx_destroy(&mutex);
}

static int timed_body(void *ignored)
{
    (void)ignored;
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 20);
    struct timespec past = check_after_ms(CLOCK_REALTIME, -20);
    struct timespec wrong = {soon.tv_sec + 100, 2000000000};
    CHECK_EQUAL(mtx_timedlock(&mutex, &past), thrd_timedout);
    CHECK_EQUAL(mtx_timedlock(&mutex, &soon), thrd_timedout);
    CHECK_EQUAL(mtx_timedlock(&mutex, &wrong), thrd_error);
    return 0;
}

static void timedlock(void)
{
    thrd_t thread;
    CHECK_EQUAL(mtx_init(&mutex, mtx_timed), thrd_success);
    CHECK_EQUAL(mtx_lock(&mutex), thrd_success);
    CHECK_EQUAL(mtx_trylock(&mutex), thrd_busy);
    CHECK_EQUAL(thrd_create(&thread, timed_body, NULL), thrd_success);
    CHECK_EQUAL(thrd_join(thread, NULL), thrd_success);
    CHECK_EQUAL(mtx_unlock(&mutex), thrd_success);
    CHECK_EQUAL(try_elsewhere(), thrd_success);
    mtx_destroy(&mutex);
}

static int turn_body(void *ignored)
{
    (void)ignored;
    CHECK_EQUAL(mtx_lock(&mutex), thrd_success);
    for (int i = 0; i < rounds; i++) {
        while (turn != 1)
            CHECK_EQUAL(cnd_wait(&cond, &mutex), thrd_success);
        turn = 0;
        CHECK_EQUAL(i % 2 ? cnd_signal(&cond) : cnd_broadcast(&cond), thrd_success);
    }
    CHECK_EQUAL(mtx_unlock(&mutex), thrd_success);
    return 0;
}

static void condvar(void)
{
    thrd_t thread;
    rounds = check_rounds(2000);
    CHECK_EQUAL(mtx_init(&mutex, mtx_plain), thrd_success);
    CHECK_EQUAL(cnd_init(&cond), thrd_success);
    CHECK_EQUAL(thrd_create(&thread, turn_body, NULL), thrd_success);
    CHECK_EQUAL(mtx_lock(&mutex), thrd_success);
    for (int i = 0; i < rounds; i++) {
        struct timespec late = check_after_ms(CLOCK_REALTIME, 15000);
        turn = 1;
        CHECK_EQUAL(cnd_signal(&cond), thrd_success);
        while (turn != 0)
            CHECK_EQUAL(cnd_timedwait(&cond, &mutex, &late), thrd_success);
    }
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 20);
    struct timespec wrong = {soon.tv_sec + 100, -1};
    CHECK_EQUAL(cnd_timedwait(&cond, &mutex, &soon), thrd_timedout);
    CHECK_EQUAL(cnd_timedwait(&cond, &mutex, &wrong), thrd_error);
    CHECK_EQUAL(try_elsewhere(), thrd_busy);
    CHECK_EQUAL(mtx_unlock(&mutex), thrd_success);
    CHECK_EQUAL(thrd_join(thread, NULL), thrd_success);
    cnd_destroy(&cond);
    mtx_destroy(&mutex);
}

static void once_function(void)
{
    check_sleep_ms(2);
    once_calls++;
}

static int once_body(void *ignored)
{
    (void)ignored;
    call_once(&once, once_function);
    CHECK_EQUAL(once_calls, 1);
    return 0;
}

static void once_only(void)
{
    thrd_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(thrd_create(&threads[i], once_body, NULL), thrd_success);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(thrd_join(threads[i], NULL), thrd_success);
    CHECK_EQUAL(once_calls, 1);
}

CHECK_MAIN(CASE(plain), CASE(timed), CASE(recursive_counter), CASE(recursive),
           CASE(timedlock), CASE(condvar), CASE(once_only))
