/* SPDX-License-Identifier: MIT */
/* Robust mutexes: the owner dies, and the next owner makes the state consistent or does
 * not. */
#include <sys/mman.h>

#include "check.h"

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int ready;
    int done;
};

static struct shared *shared;

static void set_up(int pshared, int kind)
{
    pthread_mutexattr_t attributes;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
    CHECK_OK(pthread_mutexattr_setpshared(&attributes, pshared));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutex_init(&shared->mutex, &attributes));
    CHECK_OK(pthread_cond_init(&shared->cond, NULL));
}

static void *die_holding(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&shared->mutex));
    return NULL;
}

static void *wait_for_owner_death(void *queued)
{
    check_publish(queued);
    CHECK_RETURNS(pthread_mutex_lock(&shared->mutex), EOWNERDEAD);
    CHECK_OK(pthread_mutex_consistent(&shared->mutex));
    CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    return NULL;
}

static void repair(int kind)
{
    set_up(PTHREAD_PROCESS_PRIVATE, kind);
    struct timespec deadline = check_after_ms(CLOCK_REALTIME, 10000);
    int (*const ways[])(pthread_mutex_t *) = {pthread_mutex_lock,
                                              pthread_mutex_trylock};
    for (int i = 0; i < 3; i++) {
        check_join(check_start(die_holding, NULL));
        if (i < 2)
            CHECK_RETURNS(ways[i](&shared->mutex), EOWNERDEAD);
        else
            CHECK_RETURNS(pthread_mutex_timedlock(&shared->mutex, &deadline),
                          EOWNERDEAD);
        CHECK_RETURNS(check_try_elsewhere(&shared->mutex), EBUSY);
        CHECK_OK(pthread_mutex_consistent(&shared->mutex));
        CHECK_OK(pthread_mutex_unlock(&shared->mutex));
        CHECK_OK(check_try_elsewhere(&shared->mutex));
    }
    CHECK_OK(pthread_mutex_destroy(&shared->mutex));
}

static void owner_thread_died(void)
{
    repair(PTHREAD_MUTEX_NORMAL);
}

static void owner_died_recursive(void)
{
    repair(PTHREAD_MUTEX_RECURSIVE);
}

static void owner_died_errorcheck(void)
{
    repair(PTHREAD_MUTEX_ERRORCHECK);
}

static void not_recovered(void)
{
    set_up(PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_NORMAL);
    check_join(check_start(die_holding, NULL));
    CHECK_RETURNS(pthread_mutex_lock(&shared->mutex), EOWNERDEAD);
    CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    CHECK_RETURNS(pthread_mutex_lock(&shared->mutex), ENOTRECOVERABLE);
    CHECK_RETURNS(pthread_mutex_trylock(&shared->mutex), ENOTRECOVERABLE);
}

static void *die_when_told(void *told)
{
    CHECK_OK(pthread_mutex_lock(&shared->mutex));
    check_set(&shared->ready, 1);
    CHECK_UNTIL(check_get((int *)told));
    return NULL;
}

static void waiter_learns(void)
{
    set_up(PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_NORMAL);
    pid_t queued = 0;
    int told = 0;
    pthread_t owner = check_start(die_when_told, &told);
    CHECK_UNTIL(check_get(&shared->ready));
    pthread_t waiter = check_start(wait_for_owner_death, &queued);
    check_wait_queued(&queued);
    check_set(&told, 1);
    check_join(owner);
    check_join(waiter);
    CHECK_OK(check_try_elsewhere(&shared->mutex));
}

static void owner_process_died(void)
{
    set_up(PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_NORMAL);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            CHECK_OK(pthread_mutex_lock(&shared->mutex));
            _exit(0);
        }
        check_child(child);
        CHECK_RETURNS(pthread_mutex_lock(&shared->mutex), EOWNERDEAD);
        CHECK_OK(pthread_mutex_consistent(&shared->mutex));
        CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    }
}

static void *cond_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&shared->mutex));
    shared->ready = 1;
    while (!shared->done)
        CHECK_OK(pthread_cond_wait(&shared->cond, &shared->mutex));
    CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    return NULL;
}

static void private_cond(void)
{
    set_up(PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_NORMAL);
    for (int i = 0; i < 100; i++) {
        shared->ready = shared->done = 0;
        pthread_t thread = check_start(cond_body, NULL);
        CHECK_UNTIL(check_get(&shared->ready));
        CHECK_OK(pthread_mutex_lock(&shared->mutex));
        shared->done = 1;
        CHECK_OK(pthread_cond_signal(&shared->cond));
        CHECK_OK(pthread_mutex_unlock(&shared->mutex));
        check_join(thread);
    }
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    CHECK_OK(pthread_mutex_lock(&shared->mutex));
    CHECK_RETURNS(pthread_cond_timedwait(&shared->cond, &shared->mutex, &soon),
                  ETIMEDOUT);
    CHECK_RETURNS(check_try_elsewhere(&shared->mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&shared->mutex));
}

CHECK_MAIN(CASE(owner_thread_died), CASE(owner_died_recursive),
           CASE(owner_died_errorcheck), CASE(not_recovered), CASE(waiter_learns),
           CASE(owner_process_died), CASE(private_cond))
