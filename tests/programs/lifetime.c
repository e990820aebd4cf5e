/* SPDX-License-Identifier: MIT */
/* Lifetimes of mutexes: they are destroyed, freed, unmapped, zeroed and reused, and
 * there are very many of them. */
#include <sys/mman.h>

#include "check.h"

enum { PAGE = 4096 };

static void destroy_held(void)
{
    pthread_mutex_t mutex;
    CHECK_OK(pthread_mutex_init(&mutex, NULL));
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(pthread_mutex_destroy(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_destroy(&mutex));
    CHECK_OK(pthread_mutex_init(&mutex, NULL));
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_RETURNS(pthread_mutex_destroy(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void zeroed_memory(void)
{
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    for (int i = 0; i < 1000; i++) {
        memset(mutex, 0, sizeof *mutex);
        CHECK_OK(pthread_mutex_lock(mutex));
        if (i % 10 == 0)
            CHECK_RETURNS(check_try_elsewhere(mutex), EBUSY);
        if (i % 2)
            CHECK_OK(pthread_mutex_unlock(mutex));
    }
    free(mutex);
}

/* A mutex that is freed while locked and never destroyed does not affect the next mutex
 * in that memory. */
static void freed_without_destroy(void)
{
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_t *mutex = malloc(sizeof *mutex);
        pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
        memset(mutex, i, sizeof *mutex);
        if (i % 2)
            *mutex = fresh;
        else
            CHECK_OK(pthread_mutex_init(mutex, NULL));
        CHECK_OK(pthread_mutex_trylock(mutex));
        if (i % 20 == 0)
            CHECK_RETURNS(check_try_elsewhere(mutex), EBUSY);
        free(mutex);
    }
}

/* The kind of a mutex must not affect the next mutex in the same memory. */
static void initialised_again(void)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t recursive;
    CHECK_OK(pthread_mutexattr_init(&recursive));
    CHECK_OK(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(pthread_mutex_init(&mutex, &recursive));
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_init(&mutex, NULL));
        CHECK_OK(pthread_mutex_trylock(&mutex));
        CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_mutex_destroy(&mutex));
    }
}

static pthread_mutex_t *moving;
static long moving_counter;

static void *moving_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < check_rounds(500); i++) {
        CHECK_OK(pthread_mutex_lock(moving));
        long before = moving_counter;
        check_dawdle(before);
        moving_counter = before + 1;
        CHECK_OK(pthread_mutex_unlock(moving));
    }
    return NULL;
}

/* An array of unlocked mutexes grows and moves, as with realloc. */
static void moved_while_free(void)
{
    static pthread_mutex_t places[8] = {PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < 8; i++) {
        moving = &places[i];
        if (i) {
            memcpy(moving, &places[i - 1], sizeof *moving);
            memset(&places[i - 1], 0xff, sizeof *moving);
        }
        pthread_t first = check_start(moving_body, NULL);
        pthread_t second = check_start(moving_body, NULL);
        check_join(first);
        check_join(second);
    }
    CHECK_EQUAL(moving_counter, 16 * check_rounds(500));
    CHECK_OK(pthread_mutex_destroy(moving));
}

static void million_lives(void)
{
    pthread_mutex_t mutex;
    for (int i = 0; i < 1000000; i++) {
        CHECK_OK(pthread_mutex_init(&mutex, NULL));
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_mutex_destroy(&mutex));
    }
}

static pthread_mutex_t *many;
enum { MANY = 200000 };

static void *many_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(pthread_mutex_lock(&many[i]));
        CHECK_OK(pthread_mutex_unlock(&many[i]));
    }
    return NULL;
}

static void many_mutexes(void)
{
    many = calloc(MANY, sizeof *many);
    for (int i = 0; i < MANY; i++)
        CHECK_OK(pthread_mutex_init(&many[i], NULL));
    long before_kb = check_resident_kb();
    pthread_t first = check_start(many_body, NULL);
    pthread_t second = check_start(many_body, NULL);
    check_join(first);
    check_join(second);
    /* Allows at most 8 bytes per mutex, plus the memory of two threads. */
    CHECK_COMPARE(check_resident_kb() - before_kb, <, MANY * 8 / 1024 + 2048);
    for (int i = 0; i < MANY; i++)
        CHECK_OK(pthread_mutex_lock(&many[i]));
    for (int i = MANY; i--;)
        CHECK_OK(pthread_mutex_unlock(&many[i]));
}

/* A reference-counted object. The thread that drops the last reference unmaps it at
 * once. */
struct object {
    pthread_mutex_t mutex;
    int references;
};

static struct object *current;
static pthread_barrier_t barrier;
static int arrivals;
static int rounds;

/* Spins instead of using a barrier, which would wake the threads too far apart for them
 * to contend. */
static void meet(int round)
{
    __atomic_fetch_add(&arrivals, 1, __ATOMIC_ACQ_REL);
    for (int turn = 0; __atomic_load_n(&arrivals, __ATOMIC_ACQUIRE) < 2 * (round + 1);)
        if (++turn % 10000 == 0)
            sched_yield();
}

static void *drop_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        int serial = pthread_barrier_wait(&barrier);
        if (serial == PTHREAD_BARRIER_SERIAL_THREAD) {
            struct object *fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            CHECK(fresh != MAP_FAILED);
            CHECK_OK(pthread_mutex_init(&fresh->mutex, NULL));
            fresh->references = 2;
            current = fresh;
        }
        pthread_barrier_wait(&barrier);
        struct object *object = current;
        meet(i);
        CHECK_OK(pthread_mutex_lock(&object->mutex));
        int left = --object->references;
        CHECK_OK(pthread_mutex_unlock(&object->mutex));
        if (left == 0) {
            if (i % 2)
                CHECK_OK(pthread_mutex_destroy(&object->mutex));
            CHECK_EQUAL(munmap(object, PAGE), 0);
        }
    }
    return NULL;
}

static void last_unlocker_unmaps(void)
{
    rounds = check_rounds(6000);
    CHECK_OK(pthread_barrier_init(&barrier, NULL, 2));
    pthread_t first = check_start(drop_body, NULL);
    pthread_t second = check_start(drop_body, NULL);
    check_join(first);
    check_join(second);
}

/* A mutex is unmapped while its previous holder is still returning from the unlock. */
static void *take_and_unmap_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&barrier);
        struct object *object = current;
        int result;
        if (i % 2)
            CHECK_OK(pthread_mutex_lock(&object->mutex));
        else
            while ((result = pthread_mutex_trylock(&object->mutex)) != 0)
                CHECK_EQUAL(result, EBUSY);
        CHECK_EQUAL(object->references, 1);
        CHECK_EQUAL(munmap(object, PAGE), 0);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void next_holder_unmaps(void)
{
    unsigned dice = 1;
    rounds = check_rounds(3000);
    CHECK_OK(pthread_barrier_init(&barrier, NULL, 2));
    pthread_t thread = check_start(take_and_unmap_body, NULL);
    for (int i = 0; i < rounds; i++) {
        struct object *object = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(object != MAP_FAILED);
        CHECK_OK(pthread_mutex_lock(&object->mutex));
        object->references = 2;
        current = object;
        pthread_barrier_wait(&barrier);
        dice = dice * 1103515245 + 12345;
        check_spin((int)(dice >> 16 & 8191));
        object->references--;
        CHECK_OK(pthread_mutex_unlock(&object->mutex));
        pthread_barrier_wait(&barrier);
    }
    check_join(thread);
}

CHECK_MAIN(CASE(destroy_held), CASE(zeroed_memory), CASE(freed_without_destroy),
           CASE(initialised_again), CASE(moved_while_free), CASE(million_lives),
           CASE(many_mutexes), CASE(last_unlocker_unmaps), CASE(next_holder_unmaps))
