/* SPDX-License-Identifier: MIT */
/* Programs that rely on two mutexes being two, or on a lock excluding others although
 * it protects no data. test_global_elision.py runs them with one lock for all. */
#include <errno.h>
#include <stdbool.h>

#include "check.h"

enum { ROUNDS = 200 };

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t third = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int flag, answers, shared_total;

static bool is_set(int *sentinel)
{
    CHECK_OK(pthread_mutex_lock(&third));
    bool set = *sentinel != 0;
    CHECK_OK(pthread_mutex_unlock(&third));
    return set;
}

static void *answer(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&second));
    CHECK_OK(pthread_mutex_lock(&third));
    flag = 1;
    CHECK_OK(pthread_mutex_unlock(&third));
    CHECK_OK(pthread_mutex_unlock(&second));
    return unused;
}

/* A section waits for a sentinel that another one sets; a third mutex protects it. */
static void communicating(void)
{
    CHECK_OK(pthread_mutex_lock(&first));
    pthread_t thread = check_start(answer, NULL);
    while (!is_set(&flag))
        sched_yield();
    CHECK_OK(pthread_mutex_unlock(&first));
    check_join(thread);
    answers = 0;
}

static void *signal_flag(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&second));
    flag = 1;
    CHECK_OK(pthread_cond_signal(&condition));
    CHECK_OK(pthread_mutex_unlock(&second));
    return unused;
}

/* Waits for a condition variable while it holds another mutex, too. */
static void waiting_nested(void)
{
    CHECK_OK(pthread_mutex_lock(&first));
    CHECK_OK(pthread_mutex_lock(&second));
    pthread_t thread = check_start(signal_flag, NULL);
    while (!flag)
        CHECK_OK(pthread_cond_wait(&condition, &second));
    CHECK_OK(pthread_mutex_unlock(&second));
    CHECK_OK(pthread_mutex_unlock(&first));
    check_join(thread);
}

static void *hold(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&first));
    check_set(&flag, 1);
    for (;;)
        pause();
    return unused;
}

static void held_for_ever(void)
{
    check_start(hold, NULL);
    CHECK_UNTIL(check_get(&flag) != 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&second));
        answers++;
        CHECK_OK(pthread_mutex_unlock(&second));
    }
    CHECK_EQUAL(answers, ROUNDS);
}

static void *unlock_first(void *unused)
{
    CHECK_OK(pthread_mutex_unlock(&first));
    return unused;
}

/* A mutex used as a semaphore. */
static void unlocked_by_another(void)
{
    CHECK_OK(pthread_mutex_lock(&first));
    check_join(check_start(unlock_first, NULL));
    CHECK_OK(pthread_mutex_lock(&first));
    CHECK_OK(pthread_mutex_unlock(&first));
    CHECK_OK(check_try_elsewhere(&first));
}

static void *add(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&first));
        CHECK_OK(pthread_mutex_lock(&second));
        shared_total++;
        CHECK_OK(pthread_mutex_unlock(&second));
        CHECK_OK(pthread_mutex_unlock(&first));
        CHECK_OK(pthread_mutex_lock(&third));
        shared_total++;
        CHECK_OK(pthread_mutex_unlock(&third));
    }
    return unused;
}

/* Sections of different mutexes, which exclude each other only in global mode. */
static void excluded(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = check_start(add, NULL);
    for (int i = 0; i < 4; i++)
        check_join(threads[i]);
    CHECK_EQUAL(shared_total, 4 * 2 * ROUNDS);
}

/* An empty section waits for the holder of the lock. */
static void empty_section(void)
{
    pthread_mutex_t *mutex = &first;
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    CHECK_OK(pthread_mutex_lock(mutex));
    answers++;
    CHECK_OK(pthread_mutex_unlock(mutex));
}

/* The change must not lose or double a section of a thread. */
static void change_under_load(void)
{
    pthread_t threads[4];
    CHECK_OK(pthread_mutex_lock(&first));
    for (int i = 0; i < 4; i++)
        threads[i] = check_start(i % 2 ? answer : signal_flag, NULL);
    while (!is_set(&flag))
        sched_yield();
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&second));
        answers++;
        CHECK_OK(pthread_mutex_unlock(&second));
    }
    CHECK_RETURNS(check_try_elsewhere(&first), EBUSY); /* acquired for this thread */
    CHECK_OK(pthread_mutex_unlock(&first));
    for (int i = 0; i < 4; i++)
        check_join(threads[i]);
    CHECK_OK(check_try_elsewhere(&first));
    CHECK_OK(check_try_elsewhere(&second));
    CHECK_OK(check_try_elsewhere(&third));
}

CHECK_MAIN(CASE(communicating), CASE(waiting_nested), CASE(held_for_ever),
           CASE(unlocked_by_another), CASE(excluded), CASE(empty_section),
           CASE(change_under_load))
