/* SPDX-License-Identifier: MIT */
/* Every operation on every kind of lock, a known number of times. */
#include "named.h"

#include <threads.h>

static int stage; /* synchronises two threads */

static void reach(int number)
{
    check_set(&stage, number);
}

static void await(int number)
{
    CHECK_UNTIL(check_get(&stage) >= number);
}

static pid_t waiter;

/* Called by a thread that holds a lock: announces stage 1, and returns once another
 * thread waits for the lock. */
static void hold_until_waited_for(void)
{
    reach(1);
    check_wait_queued(&waiter);
    check_sleep_ms(2);
}

static pthread_rwlock_t rwlock;

static void *write_while_another_comes(void *unused)
{
    CHECK_OK(pthread_rwlock_wrlock(&rwlock));
    hold_until_waited_for();
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    return unused;
}

static void *fail_to_write(void *unused)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 3);
    CHECK_RETURNS(pthread_rwlock_trywrlock(&rwlock), EBUSY);
    CHECK_RETURNS(pthread_rwlock_timedwrlock(&rwlock, &soon), ETIMEDOUT);
    return unused;
}

/* READ: 3 + 1 contended + 1 by trylock. WRITE: 2 + 1 of the other thread, 1 failed
 * trylock, 1 timeout. */
static void rwlocks(void)
{
    begin_recording();
    CHECK_OK(pthread_rwlock_init(&rwlock, NULL));
    TELL(rwlock);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(pthread_rwlock_rdlock(&rwlock));
        CHECK_OK(pthread_rwlock_unlock(&rwlock));
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&rwlock));
        CHECK_OK(pthread_rwlock_unlock(&rwlock));
    }
    pthread_t other = check_start(write_while_another_comes, NULL);
    await(1);
    check_publish(&waiter);
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    check_join(other);
    CHECK_OK(pthread_rwlock_tryrdlock(&rwlock));
    check_join(check_start(fail_to_write, NULL));
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    CHECK_OK(pthread_rwlock_destroy(&rwlock));
}

static pthread_spinlock_t spinlock;

static void *spin_while_another_comes(void *unused)
{
    CHECK_OK(pthread_spin_lock(&spinlock));
    CHECK_RETURNS(pthread_spin_trylock(&spinlock), EBUSY);
    hold_until_waited_for();
    CHECK_OK(pthread_spin_unlock(&spinlock));
    return unused;
}

/* 5 + 1 contended + 1 of the other thread, 1 failed trylock. */
static void spinlocks(void)
{
    begin_recording();
    CHECK_OK(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE));
    tell("spinlock", (void *)(uintptr_t)&spinlock);
    for (int i = 0; i < 5; i++) {
        CHECK_OK(pthread_spin_lock(&spinlock));
        CHECK_OK(pthread_spin_unlock(&spinlock));
    }
    pthread_t other = check_start(spin_while_another_comes, NULL);
    await(1);
    check_publish(&waiter);
    CHECK_OK(pthread_spin_lock(&spinlock));
    CHECK_OK(pthread_spin_unlock(&spinlock));
    check_join(other);
    CHECK_OK(pthread_spin_destroy(&spinlock));
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *wait_body(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    reach(1);
    while (check_get(&stage) < 2)
        CHECK_OK(pthread_cond_wait(&condition, &mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return unused;
}

/* One wait of at least 20 ms, two waits that time out, 1 signal and 2 broadcasts. */
static void conditions(void)
{
    begin_recording();
    TELL(mutex);
    TELL(condition);
    pthread_t other = check_start(wait_body, NULL);
    await(1);
    check_sleep_ms(20);
    CHECK_OK(pthread_mutex_lock(&mutex));
    reach(2);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cond_signal(&condition));
    check_join(other);
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 3);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(pthread_cond_timedwait(&condition, &mutex, &soon), ETIMEDOUT);
    soon = check_after_ms(CLOCK_MONOTONIC, 3);
    CHECK_RETURNS(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon),
                  ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cond_broadcast(&condition));
    CHECK_OK(pthread_cond_broadcast(&condition));
    CHECK_OK(pthread_cond_destroy(&condition));
}

static void unlock(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void *wait_for_cancellation(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(unlock, NULL);
    reach(1);
    for (;;)
        CHECK_OK(pthread_cond_wait(&condition, &mutex));
    pthread_cleanup_pop(0);
    return unused;
}

/* One wait, which is cancelled. */
static void cancellation(void)
{
    begin_recording();
    TELL(mutex);
    TELL(condition);
    pthread_t other = check_start(wait_for_cancellation, NULL);
    await(1);
    CHECK_OK(pthread_mutex_lock(&mutex)); /* acquired once the other thread waits */
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cancel(other));
    CHECK(check_join(other) == PTHREAD_CANCELED);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

enum { PARTIES = 3, ROUNDS = 4 };
static pthread_barrier_t barrier;

static void *meet(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    }
    return unused;
}

static void barriers(void)
{
    begin_recording();
    pthread_t threads[PARTIES];
    CHECK_OK(pthread_barrier_init(&barrier, NULL, PARTIES));
    TELL(barrier);
    for (int i = 0; i < PARTIES; i++)
        threads[i] = check_start(meet, NULL);
    for (int i = 0; i < PARTIES; i++)
        check_join(threads[i]);
    CHECK_OK(pthread_barrier_destroy(&barrier));
}

static mtx_t c11;
static cnd_t c11_condition;

static void *try_c11(void *unused)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 3);
    CHECK_EQUAL(mtx_trylock(&c11), thrd_busy);
    CHECK_EQUAL(mtx_timedlock(&c11, &soon), thrd_timedout);
    return unused;
}

/* LOCK: 3 + 1, 1 failed trylock, 1 timeout; 1 wait that times out, 1 signal, 1
 * broadcast. */
static void c11_names(void)
{
    begin_recording();
    CHECK_EQUAL(mtx_init(&c11, mtx_timed), thrd_success);
    CHECK_EQUAL(cnd_init(&c11_condition), thrd_success);
    TELL(c11);
    TELL(c11_condition);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(mtx_lock(&c11), thrd_success);
        CHECK_EQUAL(mtx_unlock(&c11), thrd_success);
    }
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 3);
    CHECK_EQUAL(mtx_lock(&c11), thrd_success);
    CHECK_EQUAL(cnd_timedwait(&c11_condition, &c11, &soon), thrd_timedout);
    check_join(check_start(try_c11, NULL));
    CHECK_EQUAL(mtx_unlock(&c11), thrd_success);
    CHECK_EQUAL(cnd_signal(&c11_condition), thrd_success);
    CHECK_EQUAL(cnd_broadcast(&c11_condition), thrd_success);
    cnd_destroy(&c11_condition);
    mtx_destroy(&c11);
}

typedef int mutex_function(pthread_mutex_t *object);
typedef int rwlock_function(pthread_rwlock_t *object);

/* Looks functions up by their old names, and by version as sanitizers' runtimes do. */
static void old_names(void)
{
    mutex_function *lock =
        (mutex_function *)dlsym(RTLD_DEFAULT, "__pthread_mutex_lock");
    mutex_function *unlock =
        (mutex_function *)dlsym(RTLD_DEFAULT, "__pthread_mutex_unlock");
    rwlock_function *read =
        (rwlock_function *)dlsym(RTLD_DEFAULT, "__pthread_rwlock_rdlock");
    if (!lock || !unlock || !read)
        check_skip("this C library has no such names");
    begin_recording();
    CHECK_OK(pthread_rwlock_init(&rwlock, NULL));
    TELL(mutex);
    TELL(rwlock);
    CHECK_OK(lock(&mutex));
    CHECK_OK(unlock(&mutex));
    CHECK_OK(read(&rwlock));
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    lock = (mutex_function *)dlvsym(RTLD_DEFAULT, "pthread_mutex_lock", "GLIBC_2.2.5");
    if (lock)
        CHECK_OK(lock(&mutex));
    else
        CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

#define SITE __attribute__((noinline, noclone))

SITE static void wrapper(pthread_mutex_t *made)
{
    CHECK_OK(pthread_mutex_init(made, NULL));
    __asm__ volatile("");
}

SITE static void make_one(pthread_mutex_t *made)
{
    wrapper(made);
    __asm__ volatile("");
}

SITE static void make_other(pthread_mutex_t *made)
{
    wrapper(made);
    __asm__ volatile("nop"); /* keeps the compiler from merging the two functions */
}

/* Two callers of one wrapper with equal frames, so the return address and the stack
 * pointer inside the wrapper are the same. */
static void wrappers(void)
{
    static pthread_mutex_t early_one, early_other, one, other;
    make_one(&early_one);
    make_other(&early_other);
    begin_recording();
    make_one(&one);
    make_other(&other);
    TELL(early_one);
    TELL(early_other);
    TELL(one);
    TELL(other);
}

CHECK_MAIN(CASE(rwlocks), CASE(spinlocks), CASE(conditions), CASE(cancellation),
           CASE(barriers), CASE(c11_names), CASE(old_names), CASE(wrappers))
