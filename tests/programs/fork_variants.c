/* SPDX-License-Identifier: MIT */
/* Forks that run no handlers, mutex kinds that check their owner, and functions that
 * fork. */
#include <spawn.h>
#include <sys/syscall.h>

#include "check.h"

enum { WAITERS = 3 };

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int waiting;

static void *wait_body(void *queued)
{
    check_publish(queued);
    CHECK_OK(pthread_mutex_lock(&mutex));
    counter++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

/*
 * Does everything that a child may do if no fork handlers ran. The child cannot create
 * threads, because the C library has not repaired its own lists.
 */
static void in_bare_child(void)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 5);
    CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
    CHECK_RETURNS(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_cond_signal(&cond));
        CHECK_OK(pthread_cond_broadcast(&cond));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_mutex_trylock(&mutex));
        CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    CHECK_OK(pthread_mutex_lock(&mutex));
    soon = check_after_ms(CLOCK_REALTIME, 5);
    CHECK_RETURNS(pthread_cond_timedwait(&cond, &mutex, &soon), ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    _exit(0);
}

static void *cond_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    waiting = 1;
    while (waiting)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void bare(pid_t (*bare_fork)(void))
{
    for (int round = 0; round < 4; round++) {
        pthread_t threads[WAITERS];
        pid_t queued[WAITERS] = {0};
        pthread_t sleeper = check_start(cond_body, NULL);
        for (int ready = 0; !ready;) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            ready = waiting;
            CHECK_OK(pthread_mutex_unlock(&mutex));
            sched_yield();
        }
        counter = 0;
        CHECK_OK(pthread_mutex_lock(&mutex));
        for (int i = 0; i < WAITERS; i++) {
            threads[i] = check_start(wait_body, &queued[i]);
            check_wait_queued(&queued[i]);
        }
        pid_t child = bare_fork();
        if (child == 0)
            in_bare_child();
        waiting = 0;
        CHECK_OK(pthread_cond_signal(&cond));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        check_join(sleeper);
        CHECK_EQUAL(counter, WAITERS);
        check_child(child);
    }
}

static void without_handlers(void)
{
    bare(_Fork);
}

static pid_t system_call(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void by_system_call(void)
{
    bare(system_call);
}

/* The owner of a recursive or error-checking mutex does not exist in the child. */
static void held_over_fork(int kind)
{
    pthread_mutexattr_t attributes;
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutex_init(&mutex, &attributes));
    CHECK_OK(pthread_mutex_lock(&mutex));
    pid_t child = fork();
    if (child == 0) {
        CHECK_RETURNS(pthread_mutex_unlock(&mutex), EPERM);
        CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
        CHECK_RETURNS(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
        CHECK_RETURNS(pthread_mutex_destroy(&mutex), EBUSY);
        CHECK_OK(pthread_mutex_init(&mutex, &attributes));
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        _exit(0);
    }
    check_child(child);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(check_try_elsewhere(&mutex));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void recursive_held(void)
{
    held_over_fork(PTHREAD_MUTEX_RECURSIVE);
}

static void errorcheck_held(void)
{
    held_over_fork(PTHREAD_MUTEX_ERRORCHECK);
}

/* Forks from a second thread, so the child's only thread is not the parent's first
 * one. */
static void *fork_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    pid_t child = fork();
    if (child == 0) {
        pid_t queued = 0;
        pthread_t thread = check_start(wait_body, &queued);
        check_wait_queued(&queued);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(thread);
        _exit(0);
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_child(child);
    return NULL;
}

static void from_a_second_thread(void)
{
    for (int i = 0; i < 5; i++)
        check_join(check_start(fork_body, NULL));
}

/* Calls system(), popen() and posix_spawn() from a thread that holds a contended
 * lock. */
static void helpers(void)
{
    pthread_t threads[WAITERS];
    pid_t queued[WAITERS] = {0};
    char *words[] = {"true", NULL};
    pid_t child;
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < WAITERS; i++) {
        threads[i] = check_start(wait_body, &queued[i]);
        check_wait_queued(&queued[i]);
    }
    CHECK_EQUAL(system("true"), 0);
    FILE *pipe = popen("echo word", "r");
    char line[16] = "";
    CHECK(pipe != NULL && fgets(line, sizeof line, pipe) != NULL);
    CHECK(strcmp(line, "word\n") == 0);
    CHECK_EQUAL(pclose(pipe), 0);
    CHECK_OK(posix_spawnp(&child, "true", NULL, NULL, words, environ));
    check_child(child);
    child = vfork();
    if (child == 0)
        _exit(0);
    check_child(child);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, WAITERS);
}

CHECK_MAIN(CASE(without_handlers), CASE(by_system_call), CASE(recursive_held),
           CASE(errorcheck_held), CASE(from_a_second_thread), CASE(helpers))
