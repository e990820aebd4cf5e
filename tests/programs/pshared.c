/* SPDX-License-Identifier: MIT */
/* Process-shared mutexes and condition variables, alone and mixed with private ones. */
#include <sys/mman.h>

#include "check.h"

enum { PROCESSES = 3 };

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_barrier_t barrier;
    long counter;
    int turn;
    int waiting;
};

static struct shared *map_shared(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    return shared;
}

static void init_mutex(pthread_mutex_t *mutex, int pshared, int kind)
{
    pthread_mutexattr_t attributes;
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_setpshared(&attributes, pshared));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutex_init(mutex, &attributes));
}

static void init_cond(pthread_cond_t *cond, int pshared, clockid_t clock)
{
    pthread_condattr_t attributes;
    CHECK_OK(pthread_condattr_init(&attributes));
    CHECK_OK(pthread_condattr_setpshared(&attributes, pshared));
    CHECK_OK(pthread_condattr_setclock(&attributes, clock));
    CHECK_OK(pthread_cond_init(cond, &attributes));
}

static void count_across(int kind)
{
    struct shared *shared = map_shared();
    pid_t children[PROCESSES];
    int rounds = 4000;
    init_mutex(&shared->mutex, PTHREAD_PROCESS_SHARED, kind);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int j = 0; j < rounds; j++) {
                CHECK_OK(pthread_mutex_lock(&shared->mutex));
                long before = *(volatile long *)&shared->counter;
                check_dawdle(before);
                *(volatile long *)&shared->counter = before + 1;
                CHECK_OK(pthread_mutex_unlock(&shared->mutex));
            }
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++)
        check_child(children[i]);
    CHECK_EQUAL(shared->counter, (long)PROCESSES * rounds);
    CHECK_OK(pthread_mutex_destroy(&shared->mutex));
}

static void counter_normal(void)
{
    count_across(PTHREAD_MUTEX_NORMAL);
}

static void counter_default(void)
{
    count_across(PTHREAD_MUTEX_DEFAULT);
}

static void counter_recursive(void)
{
    count_across(PTHREAD_MUTEX_RECURSIVE);
}

static void counter_adaptive(void)
{
    count_across(PTHREAD_MUTEX_ADAPTIVE_NP);
}

/* If the same memory is mapped at two addresses of one process, it is still one
 * mutex. */
static void two_mappings(void)
{
    int descriptor = memfd_create("shared", MFD_CLOEXEC);
    CHECK_COMPARE(descriptor, >=, 0);
    CHECK_EQUAL(ftruncate(descriptor, sizeof(struct shared)), 0);
    struct shared *views[2];
    for (int i = 0; i < 2; i++) {
        views[i] = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                        descriptor, 0);
        CHECK(views[i] != MAP_FAILED);
    }
    init_mutex(&views[0]->mutex, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_DEFAULT);
    CHECK_OK(pthread_mutex_lock(&views[0]->mutex));
    CHECK_RETURNS(pthread_mutex_trylock(&views[1]->mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&views[1]->mutex));
    CHECK_OK(pthread_mutex_trylock(&views[0]->mutex));
}

/* Two processes take turns; the mutex and the condvar are both shared. */
static void cond_ping_pong(void)
{
    struct shared *shared = map_shared();
    int rounds = 500;
    init_mutex(&shared->mutex, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_DEFAULT);
    init_cond(&shared->cond, PTHREAD_PROCESS_SHARED, CLOCK_REALTIME);
    pid_t child = fork();
    int me = child == 0;
    CHECK_OK(pthread_mutex_lock(&shared->mutex));
    for (int i = 0; i < rounds; i++) {
        while (shared->turn != me)
            CHECK_OK(pthread_cond_wait(&shared->cond, &shared->mutex));
        shared->turn = !me;
        CHECK_OK(pthread_cond_signal(&shared->cond));
    }
    CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    if (me)
        _exit(0);
    check_child(child);
    CHECK_OK(pthread_cond_destroy(&shared->cond));
}

struct pair {
    pthread_mutex_t *mutex;
    pthread_cond_t *cond;
    int turn;
    int rounds;
};

static void *pair_body(void *argument)
{
    struct pair *pair = argument;
    CHECK_OK(pthread_mutex_lock(pair->mutex));
    for (int i = 0; i < pair->rounds; i++) {
        while (pair->turn != 1)
            CHECK_OK(pthread_cond_wait(pair->cond, pair->mutex));
        pair->turn = 0;
        CHECK_OK(pthread_cond_broadcast(pair->cond));
    }
    CHECK_OK(pthread_mutex_unlock(pair->mutex));
    return NULL;
}

/* Uses every combination from threads of one process; after a time-out the mutex is
 * held. */
static void take_turns(int mutex_shared, int cond_shared, clockid_t clock)
{
    struct shared *shared = map_shared();
    struct pair pair = {&shared->mutex, &shared->cond, 0, check_rounds(200)};
    init_mutex(pair.mutex, mutex_shared, PTHREAD_MUTEX_DEFAULT);
    init_cond(pair.cond, cond_shared, clock);
    pthread_t thread = check_start(pair_body, &pair);
    CHECK_OK(pthread_mutex_lock(pair.mutex));
    for (int i = 0; i < pair.rounds; i++) {
        struct timespec late = check_after_ms(clock, 15000);
        pair.turn = 1;
        CHECK_OK(pthread_cond_signal(pair.cond));
        while (pair.turn != 0)
            CHECK_OK(pthread_cond_timedwait(pair.cond, pair.mutex, &late));
    }
    struct timespec soon = check_after_ms(clock, 25);
    int result;
    do
        result = pthread_cond_timedwait(pair.cond, pair.mutex, &soon);
    while (result == 0);
    CHECK_RETURNS(result, ETIMEDOUT);
    CHECK_COMPARE(check_now_ns(clock), >=, soon.tv_sec * 1000000000LL + soon.tv_nsec);
    CHECK_RETURNS(check_try_elsewhere(pair.mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(pair.mutex));
    check_join(thread);
    CHECK_OK(pthread_cond_destroy(pair.cond));
    CHECK_OK(pthread_mutex_destroy(pair.mutex));
}

static void shared_cond_private_mutex(void)
{
    take_turns(PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED, CLOCK_REALTIME);
    take_turns(PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED, CLOCK_MONOTONIC);
}

static void private_cond_shared_mutex(void)
{
    take_turns(PTHREAD_PROCESS_SHARED, PTHREAD_PROCESS_PRIVATE, CLOCK_REALTIME);
    take_turns(PTHREAD_PROCESS_SHARED, PTHREAD_PROCESS_PRIVATE, CLOCK_MONOTONIC);
}

static void both_shared(void)
{
    take_turns(PTHREAD_PROCESS_SHARED, PTHREAD_PROCESS_SHARED, CLOCK_MONOTONIC);
}

struct wait {
    struct shared *shared;
    int waiting, done;
};

static void *wait_body(void *argument)
{
    struct wait *wait = argument;
    struct shared *shared = wait->shared;
    CHECK_OK(pthread_mutex_lock(&shared->mutex));
    wait->waiting = 1;
    while (!wait->done)
        CHECK_OK(pthread_cond_wait(&shared->cond, &shared->mutex));
    CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    return NULL;
}

static void busy_while_waited(int mutex_shared, int cond_shared)
{
    struct wait wait = {map_shared(), 0, 0};
    pthread_mutex_t *mutex = &wait.shared->mutex;
    init_mutex(mutex, mutex_shared, PTHREAD_MUTEX_DEFAULT);
    init_cond(&wait.shared->cond, cond_shared, CLOCK_REALTIME);
    pthread_t thread = check_start(wait_body, &wait);
    for (int waiting = 0; !waiting;) {
        CHECK_OK(pthread_mutex_lock(mutex));
        waiting = wait.waiting;
        CHECK_OK(pthread_mutex_unlock(mutex));
        sched_yield();
    }
    CHECK_RETURNS(pthread_mutex_destroy(mutex), EBUSY);
    CHECK_OK(pthread_mutex_lock(mutex));
    wait.done = 1;
    CHECK_OK(pthread_cond_signal(&wait.shared->cond));
    CHECK_OK(pthread_mutex_unlock(mutex));
    check_join(thread);
    CHECK_OK(pthread_mutex_destroy(mutex));
}

/* A mutex with a waiter on a condition variable cannot be destroyed. */
static void mutex_in_use_by_a_waiter(void)
{
    busy_while_waited(PTHREAD_PROCESS_SHARED, PTHREAD_PROCESS_PRIVATE);
    busy_while_waited(PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED);
    busy_while_waited(PTHREAD_PROCESS_SHARED, PTHREAD_PROCESS_SHARED);
}

CHECK_MAIN(CASE(counter_normal), CASE(counter_default), CASE(counter_recursive),
           CASE(counter_adaptive), CASE(two_mappings), CASE(cond_ping_pong),
           CASE(shared_cond_private_mutex), CASE(private_cond_shared_mutex),
           CASE(both_shared), CASE(mutex_in_use_by_a_waiter))
