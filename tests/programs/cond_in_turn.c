/* SPDX-License-Identifier: MIT */
/* Two threads pass on a recursive lock made of a mutex and a condition variable, as
 * perl's do, and return to it at once. They are fast if each keeps it for many
 * sections, so hardly any of them waits for the condition. On a busy machine it hardly
 * ever does in any case. */
#include "check.h"

enum { THREADS = 2, SECTIONS = 150000, WAITS_PER_SECTION = 4 /* one in so many */ };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_free = PTHREAD_COND_INITIALIZER;
static int owner, depth, started;
static long waits;
static long sections;

static void acquire(int self)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    while (owner && owner != self) {
        waits++;
        CHECK_OK(pthread_cond_wait(&is_free, &mutex));
    }
    owner = self;
    depth++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void release(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    if (--depth == 0) {
        owner = 0;
        CHECK_OK(pthread_cond_signal(&is_free));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void *use(void *number)
{
    int self = *(int *)number;
    __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&started, __ATOMIC_RELAXED) < THREADS)
        sched_yield();
    for (int i = 0; i < SECTIONS; i++) {
        acquire(self);
        acquire(self);
        sections++;
        release();
        release();
    }
    return NULL;
}

static void few_waits(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        CHECK_OK(pthread_create(&threads[i], NULL, use, &numbers[i]));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(pthread_join(threads[i], NULL));
    CHECK_EQUAL(sections, THREADS * SECTIONS);
    CHECK_COMPARE(waits, <, THREADS *SECTIONS / WAITS_PER_SECTION);
}

CHECK_MAIN(CASE(few_waits))
