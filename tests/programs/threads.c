/* SPDX-License-Identifier: MIT */
/* Very many threads run one after the other, without leaving memory behind, and all at
 * once. */
#include <semaphore.h>

#include "check.h"

enum { SEQUENCE = 10000, AT_ONCE = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static sem_t go;
static long counter;
static int tokens;

static void *lock_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    counter++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void in_sequence(void)
{
    long before_kb = 0;
    for (int i = 0; i < SEQUENCE; i++) {
        if (i == SEQUENCE / 10)
            before_kb = check_resident_kb();
        check_join(check_start(lock_body, NULL));
    }
    CHECK_EQUAL(counter, SEQUENCE);
    CHECK_COMPARE(check_resident_kb() - before_kb, <, 1024);
}

/* Each thread has to wait for the lock, so that it allocates the memory of a waiter. */
static void in_sequence_contended(void)
{
    int rounds = 3000;
    long before_kb = 0;
    for (int i = 0; i < rounds; i++) {
        if (i == rounds / 10)
            before_kb = check_resident_kb();
        CHECK_OK(pthread_mutex_lock(&mutex));
        pthread_t thread = check_start(lock_body, NULL);
        sched_yield();
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(thread);
    }
    CHECK_EQUAL(counter, rounds);
    CHECK_COMPARE(check_resident_kb() - before_kb, <, 1024);
}

static void *wait_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    while (tokens == 0)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    tokens--;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void in_sequence_waiting(void)
{
    int rounds = 2000;
    long before_kb = 0;
    for (int i = 0; i < rounds; i++) {
        if (i == rounds / 10)
            before_kb = check_resident_kb();
        pthread_t thread = check_start(wait_body, NULL);
        sched_yield();
        CHECK_OK(pthread_mutex_lock(&mutex));
        tokens++;
        CHECK_OK(pthread_cond_signal(&cond));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(thread);
    }
    CHECK_COMPARE(check_resident_kb() - before_kb, <, 1024);
}

static void start_all(pthread_t *threads, int count, void *(*body)(void *))
{
    pthread_attr_t attributes;
    CHECK_OK(pthread_attr_init(&attributes));
    CHECK_OK(pthread_attr_setstacksize(&attributes, 64 << 10));
    for (int i = 0; i < count; i++) {
        int result = pthread_create(&threads[i], &attributes, body, NULL);
        if (result == EAGAIN)
            check_skip("this machine does not allow 2,000 threads");
        CHECK_OK(result);
        if (i % 8 == 7)
            sched_yield();
    }
}

static void *alive_body(void *ignored)
{
    lock_body(ignored);
    CHECK_EQUAL(sem_post(&ready), 0);
    CHECK_EQUAL(sem_wait(&go), 0);
    lock_body(ignored);
    CHECK_EQUAL(sem_post(&ready), 0);
    return NULL;
}

/* All threads exist at once, but only two contend, so that spinning locks pass as
 * well. */
static void at_once(void)
{
    static pthread_t threads[AT_ONCE];
    CHECK_EQUAL(sem_init(&ready, 0, 0), 0);
    CHECK_EQUAL(sem_init(&go, 0, 0), 0);
    for (int i = 0; i < AT_ONCE; i += 2) {
        start_all(&threads[i], 2, alive_body);
        CHECK_EQUAL(sem_wait(&ready), 0);
        CHECK_EQUAL(sem_wait(&ready), 0);
    }
    CHECK_EQUAL(counter, AT_ONCE);
    for (int i = 0; i < AT_ONCE; i += 2) {
        CHECK_EQUAL(sem_post(&go), 0);
        CHECK_EQUAL(sem_post(&go), 0);
        CHECK_EQUAL(sem_wait(&ready), 0);
        CHECK_EQUAL(sem_wait(&ready), 0);
    }
    for (int i = 0; i < AT_ONCE; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, 2 * AT_ONCE);
}

static void *broadcast_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    counter++;
    while (!tokens)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    counter++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void at_once_in_cond_wait(void)
{
    static pthread_t threads[AT_ONCE];
    int count = check_lock_spins() ? 20 : AT_ONCE;
    start_all(threads, count, broadcast_body);
    for (int done = 0; !done;) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        done = counter == count;
        if (done) {
            tokens = 1;
            CHECK_OK(pthread_cond_broadcast(&cond));
        }
        CHECK_OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    for (int i = 0; i < count; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, 2 * count);
}

static void at_once_in_the_queue(void)
{
    static pthread_t threads[AT_ONCE];
    int count = check_lock_spins() ? 8 : AT_ONCE;
    CHECK_OK(pthread_mutex_lock(&mutex));
    start_all(threads, count, lock_body);
    check_sleep_ms(5);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < count; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, count);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

CHECK_MAIN(CASE(in_sequence), CASE(in_sequence_contended), CASE(in_sequence_waiting),
           CASE(at_once), CASE(at_once_in_cond_wait), CASE(at_once_in_the_queue))
