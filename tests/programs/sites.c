/* SPDX-License-Identifier: MIT */
/*
 * Mutexes from several sites, for plans: the test gives each site a different
 * algorithm. While the program holds a mutex, it prints the mutex's algorithm to
 * stderr. Without a plan it is an ordinary test program.
 */
#include "check.h"

#include <threads.h>

#define SITE __attribute__((noinline, noclone))

static pthread_mutex_t global_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t global_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t global_adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

/* Two callers of one wrapper, which differ only in their second frame. */
SITE static void make(pthread_mutex_t *mutex)
{
    CHECK_OK(pthread_mutex_init(mutex, NULL));
    __asm__ volatile("");
}

SITE static void make_one(pthread_mutex_t *mutex)
{
    make(mutex);
    __asm__ volatile("");
}

SITE static void make_other(pthread_mutex_t *mutex)
{
    make(mutex);
    __asm__ volatile("nop"); /* keeps the compiler from merging the two functions */
}

SITE static void make_c11(mtx_t *mutex)
{
    CHECK_EQUAL(mtx_init(mutex, mtx_plain), thrd_success);
    __asm__ volatile("");
}

SITE static void take_first(pthread_mutex_t *mutex)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    __asm__ volatile("");
}

SITE static void try_first(pthread_mutex_t *mutex)
{
    CHECK_OK(pthread_mutex_trylock(mutex));
    __asm__ volatile("");
}

SITE static void time_first(pthread_mutex_t *mutex)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 1000);
    CHECK_OK(pthread_mutex_timedlock(mutex, &soon));
    __asm__ volatile("");
}

/* Returns the index of the mutex's algorithm, from where Hasp keeps it. */
static void tell(const char *name, const void *mutex)
{
    const unsigned char *bytes = mutex;
    char line[64];
    int length = snprintf(line, sizeof line, "%s=%d\n", name, bytes[20]);
    CHECK_EQUAL(write(STDERR_FILENO, line, (size_t)length), length);
}

static void use(const char *name, pthread_mutex_t *mutex)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    tell(name, mutex);
    CHECK_EQUAL(check_try_elsewhere(mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_EQUAL(check_try_elsewhere(mutex), 0);
}

static void held(const char *name, pthread_mutex_t *mutex)
{
    tell(name, mutex);
    CHECK_OK(pthread_mutex_unlock(mutex));
}

static void by_site(void)
{
    pthread_mutex_t one, other, first, tried, timed, cleared;
    mtx_t c11;
    use("global_a", &global_a);
    use("global_b", &global_b);
    make_one(&one);
    make_other(&other);
    make_c11(&c11);
    use("one", &one);
    use("other", &other);
    use("c11", (pthread_mutex_t *)&c11);
    memset(&first, 0, sizeof first);
    take_first(&first);
    held("first", &first);
    memset(&tried, 0, sizeof tried);
    try_first(&tried);
    held("tried", &tried);
    memset(&timed, 0, sizeof timed);
    time_first(&timed);
    held("timed", &timed);
    CHECK_OK(pthread_mutex_destroy(&one));
    make_other(&one);
    use("again", &one);
    make_one(&cleared);
    memset(&cleared, 0, sizeof cleared);
    take_first(&cleared);
    held("cleared", &cleared);
}

/* Checks glibc's results while a thread waits, and after its mutexes have been
 * contended. */
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int go, waits;

static void *wait_body(void *mutex)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    waits = 1;
    while (!go)
        CHECK_OK(pthread_cond_wait(&condition, mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void busy_while_waited(void)
{
    pthread_mutex_t *mutex = &global_a;
    pthread_t waiter = check_start(wait_body, mutex);
    CHECK_UNTIL(check_get(&waits));
    CHECK_OK(pthread_mutex_lock(mutex)); /* the waiter has released it */
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_RETURNS(pthread_mutex_destroy(mutex), EBUSY);
    CHECK_OK(pthread_mutex_lock(mutex));
    go = 1;
    CHECK_OK(pthread_cond_signal(&condition));
    CHECK_OK(pthread_mutex_unlock(mutex));
    check_join(waiter);
    CHECK_OK(pthread_mutex_destroy(mutex));
}

static long sum;

static void *add_body(void *mutex)
{
    for (long turn = 0; turn < check_rounds(2000); turn++) {
        CHECK_OK(pthread_mutex_lock(mutex));
        long seen = sum;
        check_dawdle(turn);
        sum = seen + 1;
        CHECK_OK(pthread_mutex_unlock(mutex));
    }
    return NULL;
}

static void adaptive_contended(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = check_start(add_body, &global_adaptive);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    CHECK_EQUAL(sum, 3 * check_rounds(2000));
    use("adaptive", &global_adaptive);
}

/* Many times, two threads at different sites use a new mutex for the first time at
 * once. */
static pthread_mutex_t fresh[512];
static int arrived[512];
static long sums[512];

typedef void taker(pthread_mutex_t *mutex);

static void *race_body(void *argument)
{
    taker *take = *(taker **)argument;
    for (int i = 0; i < 512; i++) {
        check_add(&arrived[i], 1);
        for (int spins = 1; check_get(&arrived[i]) != 2; spins++)
            if (spins % 1000 == 0)
                sched_yield(); /* both may be on one CPU */
        take(&fresh[i]);
        long seen = sums[i];
        check_dawdle(i);
        sums[i] = seen + 1;
        CHECK_OK(pthread_mutex_unlock(&fresh[i]));
    }
    return NULL;
}

static void first_use_raced(void)
{
    taker *takers[] = {take_first, time_first};
    pthread_t other = check_start(race_body, &takers[1]);
    race_body(&takers[0]);
    check_join(other);
    for (int i = 0; i < 512; i++)
        CHECK_EQUAL(sums[i], 2);
}

CHECK_MAIN(CASE(by_site), CASE(busy_while_waited), CASE(adaptive_contended),
           CASE(first_use_raced))
