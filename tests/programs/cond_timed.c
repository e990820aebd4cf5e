/* SPDX-License-Identifier: MIT */
/* cond_timedwait and cond_clockwait on both clocks:
 * deadlines, bad arguments, the mutex held. */
#include "check.h"

static pthread_mutex_t mutex;
static pthread_cond_t cond;
static int ready;

/* How a wait gets its clock: from the condvar, or from an argument of the call. */
struct way {
    clockid_t attribute;
    int named;
};

static int timed(const struct way *way, const struct timespec *deadline)
{
    if (way->named == -1)
        return pthread_cond_timedwait(&cond, &mutex, deadline);
    return pthread_cond_clockwait(&cond, &mutex, way->named, deadline);
}

static clockid_t reads(const struct way *way)
{
    return way->named == -1 ? way->attribute : way->named;
}

static void set_up(const struct way *way)
{
    pthread_condattr_t attributes;
    pthread_mutexattr_t checked;
    clockid_t kept;
    CHECK_OK(pthread_condattr_init(&attributes));
    CHECK_OK(pthread_condattr_setclock(&attributes, way->attribute));
    CHECK_OK(pthread_condattr_getclock(&attributes, &kept));
    CHECK_EQUAL(kept, way->attribute);
    CHECK_OK(pthread_cond_init(&cond, &attributes));
    CHECK_OK(pthread_mutexattr_init(&checked));
    CHECK_OK(pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK));
    CHECK_OK(pthread_mutex_init(&mutex, &checked));
    ready = 0;
}

static void *signal_body(void *ignored)
{
    (void)ignored;
    check_sleep_ms(5);
    CHECK_OK(pthread_mutex_lock(&mutex));
    ready = 1;
    CHECK_OK(pthread_cond_signal(&cond));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void check_way(struct way way)
{
    struct timespec past[] = {{-1, 0}, {0, 0}, check_after_ms(reads(&way), -100)};
    long bad[] = {-1, 1000000000, 3000000000};
    set_up(&way);
    CHECK_OK(pthread_mutex_lock(&mutex));

    struct timespec soon = check_after_ms(reads(&way), 25);
    int result;
    do
        result = timed(&way, &soon);
    while (result == 0);
    CHECK_RETURNS(result, ETIMEDOUT);
    CHECK_COMPARE(check_now_ns(reads(&way)), >=,
                  soon.tv_sec * 1000000000LL + soon.tv_nsec);
    CHECK_RETURNS(pthread_mutex_lock(&mutex), EDEADLK);

    for (int i = 0; i < 3; i++) {
        CHECK_RETURNS(timed(&way, &past[i]), ETIMEDOUT);
        CHECK_RETURNS(pthread_mutex_lock(&mutex), EDEADLK);
    }
    for (int i = 0; i < 3; i++) {
        struct timespec wrong = check_after_ms(reads(&way), 10000);
        wrong.tv_nsec = bad[i];
        CHECK_RETURNS(timed(&way, &wrong), EINVAL);
        CHECK_RETURNS(pthread_mutex_lock(&mutex), EDEADLK);
    }

    pthread_t thread = check_start(signal_body, NULL);
    struct timespec late = check_after_ms(reads(&way), 15000);
    while (!ready)
        CHECK_OK(timed(&way, &late));
    CHECK_RETURNS(pthread_mutex_lock(&mutex), EDEADLK);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    CHECK_OK(pthread_cond_destroy(&cond));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void timedwait_realtime(void)
{
    check_way((struct way){CLOCK_REALTIME, -1});
}

static void timedwait_monotonic(void)
{
    check_way((struct way){CLOCK_MONOTONIC, -1});
}

static void clockwait_realtime(void)
{
    check_way((struct way){CLOCK_REALTIME, CLOCK_REALTIME});
    check_way((struct way){CLOCK_MONOTONIC, CLOCK_REALTIME});
}

static void clockwait_monotonic(void)
{
    check_way((struct way){CLOCK_REALTIME, CLOCK_MONOTONIC});
    check_way((struct way){CLOCK_MONOTONIC, CLOCK_MONOTONIC});
}

static void static_initialiser(void)
{
    static pthread_cond_t fixed = PTHREAD_COND_INITIALIZER;
    static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 15);
    CHECK_OK(pthread_mutex_lock(&plain));
    CHECK_RETURNS(pthread_cond_timedwait(&fixed, &plain, &soon), ETIMEDOUT);
    CHECK_RETURNS(check_try_elsewhere(&plain), EBUSY);
    soon = check_after_ms(CLOCK_MONOTONIC, 15);
    CHECK_RETURNS(pthread_cond_clockwait(&fixed, &plain, CLOCK_MONOTONIC, &soon),
                  ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&plain));
}

static void bad_clocks(void)
{
    int clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_BOOTTIME,
                    CLOCK_MONOTONIC_RAW, 12345};
    struct way way = {CLOCK_REALTIME, -1};
    struct timespec deadline = check_after_ms(CLOCK_REALTIME, 10);
    set_up(&way);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        CHECK_RETURNS(pthread_cond_clockwait(&cond, &mutex, clocks[i], &deadline),
                      EINVAL);
        CHECK_RETURNS(pthread_mutex_lock(&mutex), EDEADLK);
    }
}

/* Waiting with a mutex that the caller does not hold fails in the unlock. */
static void not_the_owner(void)
{
    struct way way = {CLOCK_REALTIME, -1};
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    set_up(&way);
    CHECK_RETURNS(pthread_cond_wait(&cond, &mutex), EPERM);
    CHECK_RETURNS(pthread_cond_timedwait(&cond, &mutex, &soon), EPERM);
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

/* Does the same with a mutex that is passed through to the C library. */
static void not_the_owner_shared(void)
{
    pthread_mutexattr_t attributes;
    struct way way = {CLOCK_REALTIME, -1};
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    set_up(&way);
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK));
    CHECK_OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_mutex_init(&mutex, &attributes));
    CHECK_RETURNS(pthread_cond_wait(&cond, &mutex), EPERM);
    CHECK_RETURNS(pthread_cond_timedwait(&cond, &mutex, &soon), EPERM);
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_destroy(&mutex));
    CHECK_OK(pthread_cond_destroy(&cond));
}

/* Waiting with a mutex that is held twice releases only one level, so no other thread
 * can lock it, and nothing deadlocks. */
static void recursive_held_twice(void)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    CHECK_OK(pthread_mutex_lock(&again));
    CHECK_OK(pthread_mutex_lock(&again));
    CHECK_OK(pthread_cond_init(&cond, NULL));
    CHECK_RETURNS(pthread_cond_timedwait(&cond, &again, &soon), ETIMEDOUT);
    for (int i = 0; i < 2; i++) {
        CHECK_RETURNS(check_try_elsewhere(&again), EBUSY);
        CHECK_OK(pthread_mutex_unlock(&again));
    }
    CHECK_OK(check_try_elsewhere(&again));
    CHECK_RETURNS(pthread_mutex_unlock(&again), EPERM);
}

struct sleeper {
    long timeout_us;
    int waiting;
    int result;
};

static void *sleeper_body(void *argument)
{
    struct sleeper *sleeper = argument;
    struct timespec deadline = check_after_us(CLOCK_REALTIME, sleeper->timeout_us);
    CHECK_OK(pthread_mutex_lock(&mutex));
    sleeper->waiting = 1;
    sleeper->result = pthread_cond_timedwait(&cond, &mutex, &deadline);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/*
 * One signal is sent just as the first waiter times out. If that waiter returns
 * ETIMEDOUT, it has not consumed the signal, which then must wake the waiter without a
 * time limit.
 */
static void signals_meet_timeouts(int hold)
{
    struct way way = {CLOCK_REALTIME, -1};
    set_up(&way);
    for (int round = 0; round < 300; round++) {
        struct sleeper impatient = {.timeout_us = 150 + round % 50};
        struct sleeper patient = {.timeout_us = 15000000};
        pthread_t first = check_start(sleeper_body, &impatient);
        pthread_t second = check_start(sleeper_body, &patient);
        for (int waiting = 0; !waiting;) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            waiting = impatient.waiting && patient.waiting;
            CHECK_OK(pthread_mutex_unlock(&mutex));
            sched_yield();
        }
        if (hold)
            CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_cond_signal(&cond));
        if (hold) {
            /* The waiter that was signalled cannot lock the mutex before its
             * deadline. */
            check_sleep_us(50);
            CHECK_OK(pthread_mutex_unlock(&mutex));
        }
        check_join(first);
        if (impatient.result != ETIMEDOUT) {
            CHECK_OK(impatient.result);
            CHECK_OK(pthread_cond_signal(&cond));
        }
        check_join(second);
        CHECK_OK(patient.result);
    }
    CHECK_OK(pthread_cond_destroy(&cond));
}

static void signal_meets_timeout(void)
{
    signals_meet_timeouts(0);
}

static void signal_by_holder_meets_timeout(void)
{
    signals_meet_timeouts(1);
}

CHECK_MAIN(CASE(timedwait_realtime), CASE(timedwait_monotonic),
           CASE(clockwait_realtime), CASE(clockwait_monotonic),
           CASE(static_initialiser), CASE(bad_clocks), CASE(not_the_owner),
           CASE(not_the_owner_shared), CASE(recursive_held_twice),
           CASE(signal_meets_timeout), CASE(signal_by_holder_meets_timeout))
