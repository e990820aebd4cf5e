/* SPDX-License-Identifier: MIT */
/* Symbol names and versions that only old binaries use. */
#include <stdbool.h>

#include "check.h"

#define OLD(function, name, version) __asm__(".symver " #function "," #name "@" version)

/* The versions are those of x86-64, the only architecture for which this program is
 * built. */
#define FIRST "GLIBC_2.2.5"
#define CONDVARS "GLIBC_2.3.2"

int old_trylock(pthread_mutex_t *);
int old_timedlock(pthread_mutex_t *, const struct timespec *);
int old_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int old_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int old_cond_signal(pthread_cond_t *);
int old_cond_broadcast(pthread_cond_t *);
int alias_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int alias_destroy(pthread_mutex_t *);
int alias_lock(pthread_mutex_t *);
int alias_trylock(pthread_mutex_t *);
int alias_unlock(pthread_mutex_t *);

OLD(old_trylock, pthread_mutex_trylock, FIRST);
OLD(old_timedlock, pthread_mutex_timedlock, FIRST);
OLD(old_cond_wait, pthread_cond_wait, CONDVARS);
OLD(old_cond_timedwait, pthread_cond_timedwait, CONDVARS);
OLD(old_cond_signal, pthread_cond_signal, CONDVARS);
OLD(old_cond_broadcast, pthread_cond_broadcast, CONDVARS);
OLD(alias_init, __pthread_mutex_init, FIRST);
OLD(alias_destroy, __pthread_mutex_destroy, FIRST);
OLD(alias_lock, __pthread_mutex_lock, FIRST);
OLD(alias_trylock, __pthread_mutex_trylock, FIRST);
OLD(alias_unlock, __pthread_mutex_unlock, FIRST);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int turn;
static int rounds;

/* Each thread uses a different set of names. */
static void *count_body(void *argument)
{
    long door = (long)argument;
    for (int i = 0; i < rounds; i++) {
        struct timespec late = check_after_ms(CLOCK_REALTIME, 60000);
        if (door == 0)
            CHECK_OK(alias_lock(&mutex));
        else if (door == 1)
            CHECK_OK(pthread_mutex_lock(&mutex));
        else if (door == 2)
            CHECK_OK(old_timedlock(&mutex, &late));
        else
            while ((i % 2 ? old_trylock(&mutex) : alias_trylock(&mutex)) != 0)
                sched_yield();
        long before = *(volatile long *)&counter;
        check_dawdle(before);
        *(volatile long *)&counter = before + 1;
        CHECK_OK(door == 1 ? alias_unlock(&mutex) : pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void mixed_names(void)
{
    pthread_t threads[4];
    rounds = check_rounds(3000);
    for (long i = 0; i < 4; i++)
        threads[i] = check_start(count_body, (void *)i);
    for (int i = 0; i < 4; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, 4L * rounds);
}

static void trylock_of_held(void)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(old_trylock(&mutex), EBUSY);
    CHECK_RETURNS(alias_trylock(&mutex), EBUSY);
    CHECK_RETURNS(old_timedlock(&mutex, &soon), ETIMEDOUT);
    CHECK_RETURNS(alias_destroy(&mutex), EBUSY);
    CHECK_OK(alias_unlock(&mutex));
    CHECK_OK(alias_destroy(&mutex));
    CHECK_OK(alias_init(&mutex, NULL));
    CHECK_OK(alias_lock(&mutex));
    CHECK_RETURNS(pthread_mutex_trylock(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void *turn_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(alias_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        while (turn != 1)
            CHECK_OK(old_cond_wait(&cond, &mutex));
        turn = 0;
        CHECK_OK(i % 2 ? old_cond_signal(&cond) : pthread_cond_signal(&cond));
    }
    CHECK_OK(alias_unlock(&mutex));
    return NULL;
}

static void condvars(void)
{
    rounds = check_rounds(1000);
    pthread_t thread = check_start(turn_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        struct timespec late = check_after_ms(CLOCK_REALTIME, 15000);
        turn = 1;
        CHECK_OK(i % 2 ? pthread_cond_signal(&cond) : old_cond_broadcast(&cond));
        while (turn != 0)
            CHECK_OK(old_cond_timedwait(&cond, &mutex, &late));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
}

static int same_library(void *a, void *b)
{
    Dl_info of_a, of_b;
    return a && b && dladdr(a, &of_a) && dladdr(b, &of_b) &&
           of_a.dli_fbase == of_b.dli_fbase;
}

/* Sanitizers look up the functions that they wrap by name and version. All must come
 * from the same library. */
static void looked_up_by_version(void)
{
    const struct {
        const char *name, *version;
    } wanted[] = {
        {"pthread_mutex_lock", FIRST},      {"pthread_mutex_unlock", FIRST},
        {"pthread_mutex_trylock", FIRST},   {"pthread_mutex_init", FIRST},
        {"pthread_mutex_destroy", FIRST},   {"pthread_cond_init", CONDVARS},
        {"pthread_cond_wait", CONDVARS},    {"pthread_cond_timedwait", CONDVARS},
        {"pthread_cond_signal", CONDVARS},  {"pthread_cond_broadcast", CONDVARS},
        {"pthread_cond_destroy", CONDVARS},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *plain = dlsym(RTLD_DEFAULT, wanted[i].name);
        const char *version = wanted[i].version;
        if (!same_library(dlvsym(RTLD_DEFAULT, wanted[i].name, version), plain) ||
            !same_library(dlvsym(RTLD_NEXT, wanted[i].name, version), plain))
            check_end(1, "%s@%s is in another library than %s\n", wanted[i].name,
                      wanted[i].version, wanted[i].name);
    }
    CHECK(dlvsym(RTLD_DEFAULT, "pthread_mutex_lock", "GLIBC_1.0") == NULL);
    CHECK(dlvsym(RTLD_DEFAULT, "no_such_function", FIRST) == NULL);
}

CHECK_MAIN(CASE(mixed_names), CASE(trylock_of_held), CASE(condvars),
           CASE(looked_up_by_version))
