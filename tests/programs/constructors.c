/* SPDX-License-Identifier: MIT */
/*
 * Uses locks before and after main. The library that this program is linked with locks
 * in its constructor. The program itself locks even earlier, in .preinit_array, which
 * runs before the constructors of any library.
 */
#include "check.h"

long early_library_counter(void);
int early_library_handlers(void);
void early_library_fork_counts(int counts[3]);

static pthread_mutex_t earliest = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int earliest_depth;
static int constructed;
static int ready;

static void *signal_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    ready = 1;
    CHECK_OK(pthread_cond_broadcast(&cond));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void wait_for_a_thread(void)
{
    pthread_t thread;
    CHECK_OK(pthread_mutex_lock(&mutex));
    ready = 0;
    thread = check_start(signal_body, NULL);
    while (!ready)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
}

static void before_everything(void)
{
    struct timespec soon = {0, 0};
    CHECK_OK(pthread_mutex_lock(&earliest));
    CHECK_OK(pthread_mutex_trylock(&earliest));
    CHECK_OK(pthread_mutex_timedlock(&earliest, &soon));
    earliest_depth = 3;
    CHECK_OK(pthread_cond_signal(&cond));
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(void) = before_everything;

__attribute__((constructor)) static void construct(void)
{
    wait_for_a_thread();
    constructed = 1;
}

static void before_main(void)
{
    CHECK_EQUAL(earliest_depth, 3);
    CHECK_RETURNS(check_try_elsewhere(&earliest), EBUSY);
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_unlock(&earliest));
    CHECK_OK(check_try_elsewhere(&earliest));
    CHECK_EQUAL(constructed, 1);
}

static void in_a_library(void)
{
    CHECK_COMPARE(early_library_counter(), >, 0);
}

static void library_atfork_handlers(void)
{
    int counts[3];
    CHECK_EQUAL(early_library_handlers(), 0);
    pid_t child = fork();
    if (child == 0) {
        early_library_fork_counts(counts);
        CHECK_EQUAL(counts[0], 1);
        CHECK_EQUAL(counts[1], 0);
        CHECK_EQUAL(counts[2], 1);
        wait_for_a_thread();
        _exit(0);
    }
    check_child(child);
    early_library_fork_counts(counts);
    CHECK_EQUAL(counts[0], 1);
    CHECK_EQUAL(counts[1], 1);
    CHECK_EQUAL(counts[2], 0);
}

static int after_main;

static void last_lock(void)
{
    if (!after_main)
        return;
    wait_for_a_thread();
    CHECK_OK(pthread_mutex_destroy(&mutex));
    after_main++;
}

__attribute__((destructor)) static void destruct(void)
{
    if (!after_main)
        return;
    CHECK_EQUAL(after_main, 2);
    CHECK_OK(pthread_mutex_init(&mutex, NULL));
    wait_for_a_thread();
    CHECK_RETURNS(check_try_elsewhere(&mutex), 0);
}

/* Checks run while the process exits; a failure there changes the exit status. */
static void after_main_ends(void)
{
    after_main = 1;
    CHECK_EQUAL(atexit(last_lock), 0);
}

/* The process exits while other threads hold, wait and queue, without waiting for
 * them. */
static void *hold_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_set(&ready, 1);
    for (;;)
        pause();
}

static void *queue_body(void *queued)
{
    check_publish(queued);
    pthread_mutex_lock(&mutex);
    return NULL;
}

static void exit_with_waiters(void)
{
    pid_t child = fork();
    if (child == 0) {
        static pid_t queued[2];
        ready = 0;
        check_start(hold_body, NULL);
        CHECK_UNTIL(check_get(&ready));
        for (int i = 0; i < 2; i++) {
            check_start(queue_body, &queued[i]);
            check_wait_queued(&queued[i]);
        }
        exit(0);
    }
    check_child(child);
}

CHECK_MAIN(CASE(before_main), CASE(in_a_library), CASE(library_atfork_handlers),
           CASE(after_main_ends), CASE(exit_with_waiters))
