/* SPDX-License-Identifier: MIT */
/* Cases that stress the recorder itself. */
#include "recorded.h"

#include <limits.h>
#include <stdbool.h>

/* pthread_create, where recording begins, and pthread_mutex_lock are not cancellation
 * points, so the recorder's code inside them must not be one either. */
static void pending_cancellation(void)
{
    pthread_t thread;
    CHECK_EQUAL(pthread_cancel(pthread_self()), 0);
    start(&thread, lock_often, NULL);
    lock_times(size);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    fputs("not cancelled\n", stderr);
}

static pthread_barrier_t all_have_locked;
static bool stay;

static void *lock_and_meet(void *argument)
{
    enum { TIMES = 10 };
    lock_times(TIMES);
    pthread_barrier_wait(&all_have_locked);
    while (stay)
        pause();
    return argument;
}

/* Runs `size` threads at the same time. */
static void run_many(void)
{
    pthread_attr_t attributes;
    pthread_t *threads = calloc((size_t)size, sizeof *threads);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 4 * PTHREAD_STACK_MIN);
    pthread_barrier_init(&all_have_locked, NULL, (unsigned)size + 1);
    for (long i = 0; i < size; i++)
        if (pthread_create(&threads[i], &attributes, lock_and_meet, NULL) != 0)
            check_skip("this machine does not allow so many threads");
    pthread_barrier_wait(&all_have_locked);
    for (long i = 0; i < size && !stay; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

static void many_threads(void)
{
    run_many();
}

static void many_threads_stay(void)
{
    stay = true;
    run_many();
}

RECORDED_MAIN(CASE(pending_cancellation), CASE(many_threads), CASE(many_threads_stay))
