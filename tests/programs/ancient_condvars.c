/* SPDX-License-Identifier: MIT */
/* The first condition variables of 64-bit Linux, which binaries from 2002 still use. */
#include "check.h"

int ancient_init(pthread_cond_t *, const pthread_condattr_t *);
int ancient_destroy(pthread_cond_t *);
int ancient_wait(pthread_cond_t *, pthread_mutex_t *);
int ancient_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int ancient_signal(pthread_cond_t *);
int ancient_broadcast(pthread_cond_t *);

__asm__(".symver ancient_init,pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver ancient_destroy,pthread_cond_destroy@GLIBC_2.2.5");
__asm__(".symver ancient_wait,pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver ancient_timedwait,pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver ancient_signal,pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver ancient_broadcast,pthread_cond_broadcast@GLIBC_2.2.5");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fixed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t *cond;
static int turn;
static int rounds;

static void *turn_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        while (turn != 1)
            CHECK_OK(ancient_wait(cond, &mutex));
        turn = 0;
        CHECK_OK(i % 2 ? ancient_signal(cond) : ancient_broadcast(cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void take_turns(void)
{
    rounds = check_rounds(1000);
    pthread_t thread = check_start(turn_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < rounds; i++) {
        turn = 1;
        CHECK_OK(ancient_signal(cond));
        while (turn != 0)
            CHECK_OK(ancient_wait(cond, &mutex));
    }
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 10);
    CHECK_RETURNS(ancient_timedwait(cond, &mutex, &soon), ETIMEDOUT);
    CHECK_RETURNS(check_try_elsewhere(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
}

static void initialised(void)
{
    static pthread_cond_t object;
    cond = &object;
    CHECK_OK(ancient_init(cond, NULL));
    take_turns();
    CHECK_OK(ancient_destroy(cond));
}

static void static_initialiser(void)
{
    cond = &fixed;
    take_turns();
}

CHECK_MAIN(CASE(initialised), CASE(static_initialiser))
