/* SPDX-License-Identifier: MIT */
/* Condition variables destroyed, unmapped and reused right after the broadcast. */
#include <sys/mman.h>

#include "check.h"

enum { WAITERS = 4, PAGE = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t *cond;
static int waiting;
static int generation;
static long timeout_us;

static void *wait_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    int mine = generation;
    waiting++;
    /* No waiter accesses the condvar after the broadcast, whatever woke it. */
    while (generation == mine) {
        struct timespec soon = check_after_us(CLOCK_REALTIME, timeout_us);
        int result = timeout_us < 0 ? pthread_cond_wait(cond, &mutex)
                                    : pthread_cond_timedwait(cond, &mutex, &soon);
        CHECK(result == 0 || (result == ETIMEDOUT && timeout_us >= 0));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/* The broadcaster holds the mutex from the broadcast until the condvar is unmapped. */
static void run(int rounds, void (*make)(void), void (*dispose)(void))
{
    for (int i = 0; i < check_rounds(rounds); i++) {
        pthread_t threads[WAITERS];
        waiting = 0;
        make();
        for (int j = 0; j < WAITERS; j++)
            threads[j] = check_start(wait_body, NULL);
        for (int ready = 0; !ready;) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            ready = waiting == WAITERS;
            if (ready) {
                generation++;
                CHECK_OK(pthread_cond_broadcast(cond));
                dispose();
            }
            CHECK_OK(pthread_mutex_unlock(&mutex));
            if (!ready)
                sched_yield();
        }
        for (int j = 0; j < WAITERS; j++)
            check_join(threads[j]);
    }
}

static void make_mapped(void)
{
    cond = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(cond != MAP_FAILED);
    CHECK_OK(pthread_cond_init(cond, NULL));
}

static void dispose_unmap(void)
{
    CHECK_OK(pthread_cond_destroy(cond));
    CHECK_EQUAL(munmap(cond, PAGE), 0);
}

static void make_again(void)
{
    static pthread_cond_t reused;
    cond = &reused;
    CHECK_OK(pthread_cond_init(cond, NULL));
}

static void dispose_overwrite(void)
{
    CHECK_OK(pthread_cond_destroy(cond));
    memset(cond, 0xff, sizeof *cond);
}

static void broadcaster_unmaps(void)
{
    timeout_us = -1;
    run(400, make_mapped, dispose_unmap);
}

static void broadcaster_unmaps_timed(void)
{
    for (timeout_us = 20; timeout_us < 2000; timeout_us *= 3)
        run(100, make_mapped, dispose_unmap);
}

static void destroyed_and_overwritten(void)
{
    timeout_us = -1;
    run(200, make_again, dispose_overwrite);
    timeout_us = 50;
    run(200, make_again, dispose_overwrite);
}

/* A waiter may unmap the condvar once all others have been woken. */
static int left;

static void *last_one_unmaps(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    int mine = generation;
    waiting++;
    while (generation == mine)
        CHECK_OK(pthread_cond_wait(cond, &mutex));
    if (++left == 1)
        dispose_unmap();
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void first_woken_unmaps(void)
{
    for (int i = 0; i < check_rounds(200); i++) {
        pthread_t threads[WAITERS];
        waiting = left = 0;
        make_mapped();
        for (int j = 0; j < WAITERS; j++)
            threads[j] = check_start(last_one_unmaps, NULL);
        for (int ready = 0; !ready;) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            ready = waiting == WAITERS;
            if (ready) {
                generation++;
                CHECK_OK(pthread_cond_broadcast(cond));
            }
            CHECK_OK(pthread_mutex_unlock(&mutex));
            sched_yield();
        }
        for (int j = 0; j < WAITERS; j++)
            check_join(threads[j]);
    }
}

static void million_lives(void)
{
    pthread_cond_t object;
    for (int i = 0; i < 1000000; i++) {
        CHECK_OK(pthread_cond_init(&object, NULL));
        CHECK_OK(pthread_cond_signal(&object));
        CHECK_OK(pthread_cond_destroy(&object));
    }
}

static void zeroed_memory(void)
{
    cond = malloc(sizeof *cond);
    timeout_us = -1;
    for (int i = 0; i < 20; i++) {
        memset(cond, 0, sizeof *cond);
        pthread_t thread = check_start(wait_body, NULL);
        for (int ready = 0; !ready;) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            ready = waiting;
            if (ready) {
                generation++;
                CHECK_OK(pthread_cond_signal(cond));
            }
            CHECK_OK(pthread_mutex_unlock(&mutex));
        }
        check_join(thread);
        waiting = 0;
    }
    free(cond);
}

/* The mutex of a thread in cond_wait is in use, although it is unlocked. */
static void mutex_in_use_by_a_waiter(void)
{
    pthread_t thread;
    timeout_us = -1;
    make_again();
    thread = check_start(wait_body, NULL);
    for (int ready = 0; !ready;) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        ready = waiting;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    CHECK_RETURNS(pthread_mutex_destroy(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_lock(&mutex));
    generation++;
    CHECK_OK(pthread_cond_broadcast(cond));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

CHECK_MAIN(CASE(broadcaster_unmaps), CASE(broadcaster_unmaps_timed),
           CASE(destroyed_and_overwritten), CASE(first_woken_unmaps),
           CASE(million_lives), CASE(zeroed_memory), CASE(mutex_in_use_by_a_waiter))
