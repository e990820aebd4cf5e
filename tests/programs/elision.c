/* SPDX-License-Identifier: MIT */
/* What programs may do inside critical sections that are elided. test_elision.py also
 * reads how the sections ended. */
#include <errno.h>
#include <signal.h>

#include "check.h"

enum { LOCKS = 20, SECTIONS = 10, THREADS = 4, ROUNDS = 3000 };

static pthread_mutex_t locks[LOCKS]; /* zeroed: free */
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static long counter;
static int ready;

static void sections(void)
{
    for (int i = 0; i < SECTIONS; i++) {
        CHECK_OK(pthread_mutex_lock(&locks[0]));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&locks[0]));
    }
    CHECK_EQUAL(counter, SECTIONS);
}

static void nested(void)
{
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_lock(&locks[i]));
    for (int i = 3; i-- > 0;)
        CHECK_OK(pthread_mutex_unlock(&locks[i]));
}

/* More than a thread can elide at a time, released in another order. */
static void deep(void)
{
    for (int i = 0; i < LOCKS; i++)
        CHECK_OK(pthread_mutex_lock(&locks[i]));
    for (int i = 0; i < LOCKS; i += 2)
        CHECK_OK(pthread_mutex_unlock(&locks[i]));
    for (int i = 1; i < LOCKS; i += 2)
        CHECK_OK(pthread_mutex_unlock(&locks[i]));
    for (int i = 0; i < LOCKS; i++)
        CHECK_OK(check_try_elsewhere(&locks[i]));
}

static void trylock_inside(void)
{
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    CHECK_OK(pthread_mutex_trylock(&locks[1]));
    CHECK_OK(pthread_mutex_unlock(&locks[1]));
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
}

static void trylock_again(void)
{
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    CHECK_RETURNS(pthread_mutex_trylock(&locks[0]), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    CHECK_OK(pthread_mutex_trylock(&locks[0]));
    CHECK_RETURNS(pthread_mutex_trylock(&locks[0]), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
}

/* A thread that locks a normal mutex twice waits for itself. */
static void lock_again(void)
{
    struct timespec past = {0, 0};
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    CHECK_RETURNS(pthread_mutex_timedlock(&locks[0], &past), ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
}

static void *signaller(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    ready = 1;
    CHECK_OK(pthread_cond_signal(&condition));
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    return unused;
}

static void wait_inside(void)
{
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    pthread_t thread = check_start(signaller, NULL);
    while (!ready)
        CHECK_OK(pthread_cond_wait(&condition, &locks[0]));
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    check_join(thread);
}

/* Waits with one of two elided mutexes. */
static void wait_nested(void)
{
    CHECK_OK(pthread_mutex_lock(&locks[1]));
    wait_inside();
    CHECK_RETURNS(check_try_elsewhere(&locks[1]), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&locks[1]));
    CHECK_OK(check_try_elsewhere(&locks[1]));
}

static void kind_inside(int kind, int again)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutex_init(&mutex, &attributes));
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(pthread_mutex_lock(&mutex), again);
    if (!again)
        CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_RETURNS(pthread_mutex_unlock(&mutex), EPERM);
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void recursive(void)
{
    kind_inside(PTHREAD_MUTEX_RECURSIVE, 0);
}

static void error_checking(void)
{
    kind_inside(PTHREAD_MUTEX_ERRORCHECK, EDEADLK);
}

/* Some programs do this; with glibc's elision, they crashed. */
static void unlock_free(void)
{
    CHECK_OK(pthread_mutex_unlock(&locks[1]));
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    CHECK_OK(pthread_mutex_unlock(&locks[1]));
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
}

static void fork_inside(void)
{
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    pid_t child = fork();
    if (child == 0) {
        CHECK_RETURNS(pthread_mutex_trylock(&locks[0]), EBUSY);
        CHECK_OK(pthread_mutex_unlock(&locks[0]));
        CHECK_OK(pthread_mutex_lock(&locks[0]));
        CHECK_OK(pthread_mutex_unlock(&locks[0]));
        _exit(0);
    }
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    check_child(child);
}

static void handler(int number)
{
    (void)number;
    counter++;
}

static void signal_inside(void)
{
    struct sigaction action = {.sa_handler = handler};
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_OK(pthread_mutex_lock(&locks[0]));
    CHECK_EQUAL(raise(SIGUSR1), 0);
    CHECK_OK(pthread_mutex_unlock(&locks[0]));
    CHECK_EQUAL(counter, 1);
}

/* The memory may be given to another object right after the last unlock. */
static void reuse(void)
{
    for (int i = 0; i < SECTIONS; i++) {
        pthread_mutex_t *mutex = malloc(sizeof *mutex);
        CHECK_OK(pthread_mutex_init(mutex, NULL));
        CHECK_OK(pthread_mutex_lock(mutex));
        CHECK_OK(pthread_mutex_unlock(mutex));
        CHECK_OK(pthread_mutex_destroy(mutex));
        memset(mutex, 0xff, sizeof *mutex);
        free(mutex);
    }
}

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&locks[i % 2]));
        CHECK_OK(pthread_mutex_lock(&locks[2]));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&locks[2]));
        CHECK_OK(pthread_mutex_unlock(&locks[i % 2]));
        if (pthread_mutex_trylock(&locks[2]) == 0) {
            counter += 2;
            CHECK_OK(pthread_mutex_unlock(&locks[2]));
            check_add(&ready, 2);
        }
    }
    return unused;
}

static void exclusion(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_start(count, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, THREADS * ROUNDS + ready);
}

static void *run_sections(void *unused)
{
    sections();
    return unused;
}

static void *run_nested(void *unused)
{
    nested();
    return unused;
}

static void *run_wait_inside(void *unused)
{
    wait_inside();
    return unused;
}

/* The recorder begins with the second thread. */
static void in_thread(void)
{
    check_join(check_start(run_sections, NULL));
}

static void nested_in_thread(void)
{
    check_join(check_start(run_nested, NULL));
}

static void wait_in_thread(void)
{
    check_join(check_start(run_wait_inside, NULL));
}

CHECK_MAIN(CASE(sections), CASE(nested), CASE(deep), CASE(trylock_inside),
           CASE(trylock_again), CASE(lock_again), CASE(wait_inside), CASE(wait_nested),
           CASE(recursive), CASE(error_checking), CASE(unlock_free), CASE(fork_inside),
           CASE(signal_inside), CASE(reuse), CASE(exclusion),
           CASE(in_thread), CASE(nested_in_thread), CASE(wait_in_thread))
