/* SPDX-License-Identifier: MIT */
/*
 * Tests the first contention of a lock, over and over on fresh locks. A lock may have a
 * separate protocol for its first waiters, and a wake-up lost there is never repeated.
 */
#include "check.h"

enum { WAITERS = 2, LOCKS = 64 };

static pthread_mutex_t mutexes[LOCKS];
static pthread_mutex_t *current;
static pthread_barrier_t barrier;
static int arriving;
static int rounds;
static long entered;
static long timed_out;
static int timed;
static int slow_stores;

/* Arrives while the holder is about to release. */
static void *wait_body(void *argument)
{
    unsigned dice = (unsigned)(long)argument;
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&barrier);
        pthread_mutex_t *mutex = current;
        dice = dice * 1103515245 + 12345;
        check_add(&arriving, 1);
        if (timed && dice >> 20 & 1) {
            struct timespec soon = check_after_us(CLOCK_MONOTONIC, dice >> 16 & 15);
            int result = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon);
            if (result != 0) {
                CHECK_EQUAL(result, ETIMEDOUT);
                check_add(&timed_out, 1);
                pthread_barrier_wait(&barrier);
                continue;
            }
        } else {
            CHECK_OK(pthread_mutex_lock(mutex));
        }
        entered++;
        CHECK_OK(pthread_mutex_unlock(mutex));
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/*
 * Makes stores that take long to reach memory. The releasing store queues behind them
 * in the store buffer, although the releaser's later loads have long completed. One run
 * in several detects a release that is not ordered against its first waiters.
 */
static void store_slowly(unsigned dice)
{
    enum { LINES = 50, MEMORY = 64 << 20 };
    static char *memory;
    if (memory == NULL)
        memory = calloc(1, MEMORY);
    for (int i = 0; i < LINES; i++) {
        dice = dice * 1103515245 + 12345;
        *(volatile char *)&memory[dice % MEMORY] = 1;
    }
}

static void run(int waiters, int wanted_rounds)
{
    pthread_t threads[WAITERS];
    unsigned dice = 1;
    rounds = check_rounds(wanted_rounds);
    CHECK_OK(pthread_barrier_init(&barrier, NULL, (unsigned)waiters + 1));
    for (long i = 0; i < waiters; i++)
        threads[i] = check_start(wait_body, (void *)(i + 1));
    for (int i = 0; i < rounds; i++) {
        current = &mutexes[i % LOCKS];
        CHECK_OK(pthread_mutex_init(current, NULL));
        CHECK_OK(pthread_mutex_lock(current));
        check_set(&arriving, 0);
        pthread_barrier_wait(&barrier);
        /* Releases the lock while the waiters arrive, while they prepare to sleep, or
         * while they sleep. */
        dice = dice * 1103515245 + 12345;
        if (dice >> 16 & 1)
            for (int spin = 0; spin < 200 && !check_get(&arriving); spin++)
                check_spin(50);
        check_spin((int)(dice >> 17 & (slow_stores ? 1023 : 4095)));
        if ((dice >> 28) == 0)
            check_sleep_us(50);
        if (slow_stores)
            store_slowly(dice);
        CHECK_OK(pthread_mutex_unlock(current));
        pthread_barrier_wait(&barrier);
        CHECK_OK(pthread_mutex_destroy(current));
    }
    for (int i = 0; i < waiters; i++)
        check_join(threads[i]);
    CHECK_EQUAL(entered + timed_out, (long)waiters * rounds);
}

static void one_waiter(void)
{
    run(1, 5000);
}

static void two_waiters(void)
{
    run(2, 3000);
}

static void two_waiters_may_leave(void)
{
    timed = 1;
    run(2, 3000);
}

static void release_behind_slow_stores(void)
{
    slow_stores = 1;
    run(1, 20000);
}

CHECK_MAIN(CASE(one_waiter), CASE(two_waiters), CASE(two_waiters_may_leave),
           CASE(release_behind_slow_stores))
