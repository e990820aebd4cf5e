/* SPDX-License-Identifier: MIT */
/* Stops with mutexes in several states, which test_debugger.py prints with gdb. */
#include "check.h"

pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t held_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t contended_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recursive_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t errorcheck_mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
pthread_mutex_t wait_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t free_cond = PTHREAD_COND_INITIALIZER;
pthread_cond_t waited_cond = PTHREAD_COND_INITIALIZER;
static pid_t queued;
static int waiting;
static int done;

void all_set(int own_id);

static void *queue_body(void *ignored)
{
    (void)ignored;
    check_publish(&queued);
    CHECK_OK(pthread_mutex_lock(&contended_mutex));
    CHECK_OK(pthread_mutex_unlock(&contended_mutex));
    return NULL;
}

static void *wait_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&wait_mutex));
    waiting++;
    while (!done)
        CHECK_OK(pthread_cond_wait(&waited_cond, &wait_mutex));
    CHECK_OK(pthread_mutex_unlock(&wait_mutex));
    return NULL;
}

/* The debugger sets a breakpoint here. */
__attribute__((noinline)) void all_set(int own_id)
{
    __asm__ volatile("" : : "r"(own_id) : "memory");
}

static void stop(void)
{
    pthread_t threads[4];
    CHECK_OK(pthread_mutex_lock(&held_mutex));
    CHECK_OK(pthread_mutex_lock(&contended_mutex));
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_lock(&recursive_mutex));
    CHECK_OK(pthread_mutex_lock(&errorcheck_mutex));
    threads[0] = check_start(queue_body, NULL);
    check_wait_queued(&queued);
    for (int i = 1; i < 4; i++)
        threads[i] = check_start(wait_body, NULL);
    for (int ready = 0; !ready;) {
        CHECK_OK(pthread_mutex_lock(&wait_mutex));
        ready = waiting == 3;
        CHECK_OK(pthread_mutex_unlock(&wait_mutex));
    }
    all_set(gettid());
    CHECK_OK(pthread_mutex_lock(&wait_mutex));
    done = 1;
    CHECK_OK(pthread_cond_broadcast(&waited_cond));
    CHECK_OK(pthread_mutex_unlock(&wait_mutex));
    CHECK_OK(pthread_mutex_unlock(&contended_mutex));
    for (int i = 0; i < 4; i++)
        check_join(threads[i]);
}

CHECK_MAIN(CASE(stop))
