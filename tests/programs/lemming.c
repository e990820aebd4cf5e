/* SPDX-License-Identifier: MIT */
/* In each round, one section makes a system call, so it takes the lock, while the other
 * threads begin sections that could commit. How many of these take the lock as well is
 * what test_undo.py counts (the lemming effect). */
#include "check.h"

enum { THREADS = 6, ROUNDS = 6, SECTIONS = 3, TURNS = 500000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t rounds;
static long cells[THREADS][512]; /* on pages of their own */
static int round_held; /* the last round whose system call has been made */

/* Takes CPU time: a thread that is stopped meanwhile does not get on with it. */
static void work(void)
{
    for (long i = 0; i < TURNS; i++)
        __asm__ volatile("");
}

static void call(int round)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    CHECK(getppid() > 0);
    __atomic_store_n(&round_held, round, __ATOMIC_RELEASE);
    work();
    CHECK_OK(pthread_mutex_unlock(&lock));
}

static void *sections(void *index)
{
    const long me = (long)index;
    for (int round = 1; round <= ROUNDS; round++) {
        pthread_barrier_wait(&rounds);
        if (me == 0)
            call(round);
        while (__atomic_load_n(&round_held, __ATOMIC_ACQUIRE) < round)
            sched_yield();
        for (int i = 0; me && i < SECTIONS; i++) {
            CHECK_OK(pthread_mutex_lock(&lock));
            cells[me][i]++;
            work();
            CHECK_OK(pthread_mutex_unlock(&lock));
        }
    }
    return NULL;
}

static void stampede(void)
{
    pthread_t threads[THREADS];
    CHECK_OK(pthread_barrier_init(&rounds, NULL, THREADS));
    for (long i = 0; i < THREADS; i++)
        threads[i] = check_start(sections, (void *)i);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    for (int i = 1; i < THREADS; i++)
        for (int k = 0; k < SECTIONS; k++)
            CHECK_EQUAL(cells[i][k], ROUNDS);
}

CHECK_MAIN(CASE(stampede))
