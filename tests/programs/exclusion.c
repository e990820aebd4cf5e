/* SPDX-License-Identifier: MIT */
/* Mutual exclusion: plain counters lose updates if two threads are in a critical
 * section. */
#include "check.h"

enum { MAX_THREADS = 8 };

struct shared {
    pthread_mutex_t mutex;
    long counter;
    long other_counter;
    int rounds;
    int threads;
    int started;
};

static struct shared shared = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void enter_once(struct shared *object)
{
    long before = *(volatile long *)&object->counter;
    check_dawdle(before);
    *(volatile long *)&object->counter = before + 1;
    object->other_counter--;
}

static void *lock_body(void *argument)
{
    struct shared *object = argument;
    check_meet(&object->started, object->threads);
    for (int i = 0; i < object->rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&object->mutex));
        enter_once(object);
        CHECK_OK(pthread_mutex_unlock(&object->mutex));
    }
    return NULL;
}

/* Acquires the lock in every possible way. */
static void *mixed_body(void *argument)
{
    struct shared *object = argument;
    unsigned kind = (unsigned)gettid();
    check_meet(&object->started, object->threads);
    for (int i = 0; i < object->rounds; i++) {
        struct timespec real = check_after_ms(CLOCK_REALTIME, 60000);
        struct timespec monotonic = check_after_ms(CLOCK_MONOTONIC, 60000);
        kind = kind * 1103515245 + 12345;
        switch (kind >> 16 & 3) {
        case 0:
            CHECK_OK(pthread_mutex_lock(&object->mutex));
            break;
        case 1:
            CHECK_OK(pthread_mutex_timedlock(&object->mutex, &real));
            break;
        case 2:
            CHECK_OK(
                pthread_mutex_clocklock(&object->mutex, CLOCK_MONOTONIC, &monotonic));
            break;
        default:
            for (;;) {
                int result = pthread_mutex_trylock(&object->mutex);
                if (result == 0)
                    break;
                CHECK_EQUAL(result, EBUSY);
                sched_yield();
            }
        }
        enter_once(object);
        CHECK_OK(pthread_mutex_unlock(&object->mutex));
    }
    return NULL;
}

static void *try_body(void *argument)
{
    struct shared *object = argument;
    check_meet(&object->started, object->threads);
    for (int done = 0; done < object->rounds;) {
        int result = pthread_mutex_trylock(&object->mutex);
        if (result == EBUSY) {
            sched_yield();
            continue;
        }
        CHECK_EQUAL(result, 0);
        enter_once(object);
        CHECK_OK(pthread_mutex_unlock(&object->mutex));
        done++;
    }
    return NULL;
}

static void run(struct shared *object, void *(*body)(void *), int threads, int rounds)
{
    pthread_t ids[MAX_THREADS];
    object->rounds = check_rounds(rounds);
    object->counter = object->other_counter = 0;
    object->threads = threads;
    object->started = 0;
    for (int i = 0; i < threads; i++)
        ids[i] = check_start(body, object);
    for (int i = 0; i < threads; i++)
        check_join(ids[i]);
    CHECK_EQUAL(object->counter, (long)threads * object->rounds);
    CHECK_EQUAL(object->other_counter, -object->counter);
    CHECK_OK(pthread_mutex_trylock(&object->mutex));
    CHECK_OK(pthread_mutex_unlock(&object->mutex));
}

static void two_threads(void)
{
    run(&shared, lock_body, 2, 30000);
}

static void four_threads(void)
{
    run(&shared, lock_body, 4, 10000);
}

static void eight_threads(void)
{
    run(&shared, lock_body, 8, 4000);
}

static void every_way_in(void)
{
    run(&shared, mixed_body, 4, 8000);
}

static void only_trylock(void)
{
    run(&shared, try_body, 4, 10000);
}

static void of_kind(int kind)
{
    pthread_mutexattr_t attributes;
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_settype(&attributes, kind));
    CHECK_OK(pthread_mutex_init(&shared.mutex, &attributes));
    run(&shared, mixed_body, 4, 4000);
    CHECK_OK(pthread_mutex_destroy(&shared.mutex));
}

static void recursive_kind(void)
{
    of_kind(PTHREAD_MUTEX_RECURSIVE);
}

static void errorcheck_kind(void)
{
    of_kind(PTHREAD_MUTEX_ERRORCHECK);
}

static void adaptive_kind(void)
{
    of_kind(PTHREAD_MUTEX_ADAPTIVE_NP);
}

/* Places mutexes at every 8-byte offset in a cache line, with guard bytes in between,
 * and uses neighbouring ones at the same time. */
static void any_placement(void)
{
    enum { SPACING = sizeof(struct shared) + 8 };
    static _Alignas(64) char arena[9 * SPACING];
    pthread_t ids[8];
    memset(arena, 0xa5, sizeof arena);
    for (int i = 0; i < 8; i++) {
        struct shared *object = (struct shared *)(arena + i * SPACING);
        memset(object, 0, sizeof *object);
        object->rounds = check_rounds(4000);
        object->threads = 2;
    }
    for (int i = 0; i < 8; i++)
        ids[i] = check_start(lock_body, arena + i / 2 * SPACING);
    for (int i = 0; i < 8; i++)
        check_join(ids[i]);
    for (int i = 0; i < 4; i++) {
        struct shared *object = (struct shared *)(arena + i * SPACING);
        CHECK_EQUAL(object->counter, 2 * object->rounds);
    }
    for (int i = 0; i < 8; i++)
        for (int byte = 0; byte < 8; byte++)
            CHECK_EQUAL(
                (unsigned char)arena[i * SPACING + sizeof(struct shared) + byte], 0xa5);
}

CHECK_MAIN(CASE(two_threads), CASE(four_threads), CASE(eight_threads),
           CASE(every_way_in), CASE(only_trylock), CASE(recursive_kind),
           CASE(errorcheck_kind), CASE(adaptive_kind), CASE(any_placement))
