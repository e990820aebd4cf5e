/* SPDX-License-Identifier: MIT */
/* Programs with known times between the sections of a thread. */
#include "recorded.h"

#include <errno.h>
#include <time.h>

static struct timespec in_ns(clockid_t clock, long ns)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += ns;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Acquires the lock twice in a row, then works for 20 us. */
static void *lock_in_bursts(void *argument)
{
    for (long i = 0; i < size; i++) {
        lock_times(2);
        const struct timespec end = in_ns(CLOCK_MONOTONIC, 20000);
        struct timespec now;
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while (now.tv_sec < end.tv_sec ||
               (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
    }
    return argument;
}

static void bursts(void)
{
    pthread_mutex_init(&outer, NULL);
    run_one(lock_in_bursts);
}

/* Waits 2 ms for a condition, then acquires the lock often enough to be sampled. */
static void *wait_in_vain(void *argument)
{
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    for (long i = 0; i < size; i++) {
        pthread_mutex_lock(&outer);
        const struct timespec end = in_ns(CLOCK_REALTIME, 2000000);
        CHECK_EQUAL(pthread_cond_timedwait(&never, &outer, &end), ETIMEDOUT);
        pthread_mutex_unlock(&outer);
        lock_times(20);
    }
    return argument;
}

static void naps(void)
{
    pthread_mutex_init(&outer, NULL);
    run_one(wait_in_vain);
}

RECORDED_MAIN(CASE(bursts), CASE(naps))
