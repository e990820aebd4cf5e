/* SPDX-License-Identifier: MIT */
/* rwlocks, spinlocks, barriers, semaphores and once, used beside interposed mutexes. */
#include <semaphore.h>

#include "check.h"

enum { THREADS = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spinlock;
static sem_t semaphore;
static long counter;
static long other;
static int once_calls;
static int rounds;

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_start(body, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
}

static void *try_write(void *ignored)
{
    (void)ignored;
    return (void *)(long)pthread_rwlock_trywrlock(&rwlock);
}

static void *read_and_leave(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    return NULL;
}

static void readers_share(void)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    CHECK_OK(pthread_rwlock_tryrdlock(&rwlock));
    check_join(check_start(read_and_leave, NULL));
    CHECK_EQUAL((long)check_join(check_start(try_write, NULL)), EBUSY);
    CHECK_RETURNS(pthread_rwlock_timedwrlock(&rwlock, &soon), ETIMEDOUT);
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_rwlock_unlock(&rwlock));
    CHECK_OK(pthread_rwlock_wrlock(&rwlock));
    CHECK_RETURNS(pthread_rwlock_tryrdlock(&rwlock), EBUSY);
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    CHECK_OK(pthread_rwlock_destroy(&rwlock));
}

static void *rwlock_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&rwlock));
        counter++;
        CHECK_OK(pthread_mutex_lock(&mutex));
        other++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_rwlock_unlock(&rwlock));
        CHECK_OK(pthread_rwlock_rdlock(&rwlock));
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_COMPARE(other, >=, i);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_rwlock_unlock(&rwlock));
    }
    return NULL;
}

static void writers_exclude(void)
{
    rounds = check_rounds(2000);
    run(rwlock_body);
    CHECK_EQUAL(counter, (long)THREADS * rounds);
    CHECK_EQUAL(other, counter);
}

static void *spin_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_spin_lock(&spinlock));
        counter++;
        CHECK_OK(pthread_spin_unlock(&spinlock));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void spinlocks(void)
{
    rounds = check_rounds(3000);
    CHECK_OK(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE));
    CHECK_OK(pthread_spin_lock(&spinlock));
    CHECK_RETURNS(pthread_spin_trylock(&spinlock), EBUSY);
    CHECK_OK(pthread_spin_unlock(&spinlock));
    run(spin_body);
    CHECK_EQUAL(counter, (long)THREADS * rounds);
    CHECK_OK(pthread_spin_destroy(&spinlock));
}

static void *barrier_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        CHECK_EQUAL(check_get(&counter), (long)THREADS * (i + 1));
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void barriers(void)
{
    rounds = 100;
    CHECK_OK(pthread_barrier_init(&barrier, NULL, THREADS));
    run(barrier_body);
    CHECK_OK(pthread_barrier_destroy(&barrier));
}

static void *semaphore_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        while (sem_wait(&semaphore) != 0)
            CHECK_EQUAL(errno, EINTR);
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_EQUAL(sem_post(&semaphore), 0);
    }
    return NULL;
}

static void semaphores(void)
{
    rounds = check_rounds(2000);
    CHECK_EQUAL(sem_init(&semaphore, 0, 2), 0);
    run(semaphore_body);
    CHECK_EQUAL(counter, (long)THREADS * rounds);
    CHECK_EQUAL(sem_destroy(&semaphore), 0);
}

static void once_function(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_sleep_ms(2);
    once_calls++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void *once_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_once(&once, once_function));
    CHECK_EQUAL(once_calls, 1);
    return NULL;
}

static void once_only(void)
{
    run(once_body);
    CHECK_EQUAL(once_calls, 1);
}

CHECK_MAIN(CASE(readers_share), CASE(writers_exclude), CASE(spinlocks), CASE(barriers),
           CASE(semaphores), CASE(once_only))
