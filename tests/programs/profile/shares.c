/* SPDX-License-Identifier: MIT */
/* Locks whose use is spread over threads, stripes and modes in a known way, and
 * condition variables with a known number of wake-ups. */
#include "named.h"

#include <stdbool.h>

enum { THREADS = 4, ROUNDS = 10, HOLD_MS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int asleep, tickets, served;

/* Waits for a ticket, and takes part in the next round. */
static void *serve(void *unused)
{
    for (;;) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        asleep++;
        while (tickets == 0)
            CHECK_OK(pthread_cond_wait(&condition, &mutex));
        asleep--;
        tickets--;
        bool last = ++served >= ROUNDS;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        if (last)
            return unused;
    }
}

static void await_sleepers(int number)
{
    for (;;) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        int now = asleep;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        if (now == number)
            return;
        check_sleep_ms(1);
    }
}

/* Hands out one ticket in each round, by a broadcast that wakes all THREADS: all but
 * one find no ticket. The last round serves all. The first signal reaches no waiter. */
static void herd(void)
{
    pthread_t threads[THREADS];
    begin_recording();
    TELL(mutex);
    TELL(condition);
    CHECK_OK(pthread_cond_signal(&condition));
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_start(serve, NULL);
    for (int round = 0; round < ROUNDS - 1; round++) {
        await_sleepers(THREADS);
        check_sleep_ms(5);
        CHECK_OK(pthread_mutex_lock(&mutex));
        tickets = 1;
        CHECK_OK(pthread_cond_broadcast(&condition));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_UNTIL(check_get(&served) > round);
    }
    await_sleepers(THREADS);
    check_sleep_ms(5);
    CHECK_OK(pthread_mutex_lock(&mutex));
    tickets = THREADS;
    CHECK_OK(pthread_cond_broadcast(&condition));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pid_t waiter;

static void *write_once(void *unused)
{
    check_publish(&waiter);
    CHECK_OK(pthread_rwlock_wrlock(&rwlock));
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    return unused;
}

static void *read_once(void *unused)
{
    check_publish(&waiter);
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    return unused;
}

/* A writer waits for a reader that reads 1,000 more times without ever releasing the
 * lock: glibc's rwlock prefers readers. */
static void starved_writer(void)
{
    begin_recording();
    TELL(rwlock);
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    pthread_t writer = check_start(write_once, NULL);
    check_wait_queued(&waiter);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(pthread_rwlock_rdlock(&rwlock));
        check_sleep_us(HOLD_MS);
        CHECK_OK(pthread_rwlock_unlock(&rwlock));
    }
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    check_join(writer);
}

static void blocked_reader(void)
{
    begin_recording();
    TELL(rwlock);
    CHECK_OK(pthread_rwlock_wrlock(&rwlock));
    pthread_t reader = check_start(read_once, NULL);
    check_wait_queued(&waiter);
    check_sleep_ms(HOLD_MS);
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    check_join(reader);
}

enum { STRIPES = 8, OPERATIONS = 20000 };
static struct {
    pthread_mutex_t mutex[STRIPES];
} table;
static _Alignas(64) pthread_mutex_t apart[STRIPES][8]; /* [.][0] are in lines apart */

static void use(pthread_mutex_t *one)
{
    CHECK_OK(pthread_mutex_lock(one));
    CHECK_OK(pthread_mutex_unlock(one));
}

/* Three of four operations on stripe 3, the others on all in turn. */
static void *use_stripes(void *argument)
{
    const int times = argument ? 3 * OPERATIONS : OPERATIONS;
    for (int i = 0; i < times; i++)
        use(&table.mutex[i % 4 ? 3 : i / 4 % STRIPES]);
    return NULL;
}

/* One thread makes three times as many acquisitions as the other. */
static void stripes(void)
{
    begin_recording();
    for (int i = 0; i < STRIPES; i++)
        CHECK_OK(pthread_mutex_init(&table.mutex[i], NULL));
    tell("mutex", &table.mutex[3]);
    pthread_t one = check_start(use_stripes, &table);
    pthread_t two = check_start(use_stripes, NULL);
    check_join(one);
    check_join(two);
}

static _Alignas(64) struct {
    pthread_spinlock_t one, two;
} near;

static void use_spinlock(pthread_spinlock_t *lock)
{
    CHECK_OK(pthread_spin_lock(lock));
    CHECK_OK(pthread_spin_unlock(lock));
}

static void *use_two(void *unused)
{
    for (int i = 0; i < OPERATIONS; i++) {
        use(&apart[i % 2][0]);
        use_spinlock(&near.two);
    }
    return unused;
}

/* Two spinlocks in one cache line, each used by a thread of its own; and two mutexes in
 * different lines. */
static void neighbours(void)
{
    begin_recording();
    CHECK_OK(pthread_spin_init(&near.one, PTHREAD_PROCESS_PRIVATE));
    CHECK_OK(pthread_spin_init(&near.two, PTHREAD_PROCESS_PRIVATE));
    tell("one", (void *)(uintptr_t)&near.one);
    tell("two", (void *)(uintptr_t)&near.two);
    pthread_t other = check_start(use_two, NULL);
    for (int i = 0; i < OPERATIONS; i++)
        use_spinlock(&near.one);
    check_join(other);
}

static void *try_until_free(void *unused)
{
    check_publish(&waiter);
    while (pthread_mutex_trylock(&mutex) != 0)
        continue;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static void tries(void)
{
    begin_recording();
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_t other = check_start(try_until_free, NULL);
    CHECK_UNTIL(check_get(&waiter));
    check_sleep_ms(HOLD_MS);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(other);
}

enum { PAUSE_NS = 1000000, PAUSES = 100 };

static void sleep_a_while(void)
{
    check_sleep_ms(PAUSE_NS / 1000000);
}

static void work_a_while(void)
{
    const long long end = check_now_ns(CLOCK_MONOTONIC) + PAUSE_NS;
    while (check_now_ns(CLOCK_MONOTONIC) < end)
        continue;
}

static void *try_with_pauses(void *pause)
{
    for (int i = 0; i < PAUSES; i++) {
        CHECK(pthread_mutex_trylock(&mutex) != 0);
        ((void (*)(void))(uintptr_t)pause)();
    }
    return NULL;
}

/* The other thread never gets the mutex. */
static void tries_after(void (*pause)(void))
{
    begin_recording();
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_join(check_start(try_with_pauses, (void *)(uintptr_t)pause));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void sleeps_between_tries(void)
{
    tries_after(sleep_a_while);
}

static void works_between_tries(void)
{
    tries_after(work_a_while);
}

CHECK_MAIN(CASE(herd), CASE(starved_writer), CASE(blocked_reader), CASE(stripes),
           CASE(neighbours), CASE(tries), CASE(sleeps_between_tries),
           CASE(works_between_tries))
