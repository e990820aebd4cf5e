/* SPDX-License-Identifier: MIT */
/* Sections of reader-writer locks whose effect is known, for transactions that roll
 * back, and sections beside those of another thread. */
#include "check.h"

enum { THREADS = 2, ROUNDS = 60, CELLS = 2048 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long cells[CELLS], total;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 8;
}

static long write_one(unsigned *random)
{
    const long value = next_random(random) % 100;
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    cells[next_random(random) % CELLS] += value;
    CHECK_OK(pthread_mutex_lock(&mutex));
    total += value;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return value;
}

/* Reads recursively: a section in the section. */
static void read_all(void)
{
    long sum = 0;
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    for (int i = 0; i < CELLS; i++)
        sum += cells[i];
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    CHECK_EQUAL(sum, total);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    CHECK_EQUAL(sum, total);
    CHECK_OK(pthread_rwlock_unlock(&lock));
}

static void *sections(void *result)
{
    unsigned random = (unsigned)(*(long *)result + 1);
    *(long *)result = 0;
    for (int i = 0; i < ROUNDS; i++)
        if (next_random(&random) % 2)
            *(long *)result += write_one(&random);
        else
            read_all();
    return NULL;
}

static void random_sections(void)
{
    pthread_t threads[THREADS];
    long results[THREADS], sum = 0;
    for (int i = 0; i < THREADS; i++) {
        results[i] = i;
        threads[i] = check_start(sections, &results[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        check_join(threads[i]);
        sum += results[i];
    }
    CHECK_EQUAL(sum, total);
    read_all();
    CHECK_OK(pthread_rwlock_trywrlock(&lock));
    CHECK_OK(pthread_rwlock_unlock(&lock));
}

/* The holder makes a system call, so it is no transaction; the other thread tries. */
static void *try_both(void *readable)
{
    CHECK_RETURNS(pthread_rwlock_trywrlock(&lock), EBUSY);
    CHECK_RETURNS(pthread_rwlock_tryrdlock(&lock), readable ? 0 : EBUSY);
    cells[0] += readable != NULL;
    if (readable)
        CHECK_OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static void beside_reader(void)
{
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    CHECK(getppid() > 0);
    check_join(check_start(try_both, &lock));
    CHECK_OK(pthread_rwlock_unlock(&lock));
}

static void beside_writer(void)
{
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    CHECK(getppid() > 0);
    check_join(check_start(try_both, NULL));
    CHECK_OK(pthread_rwlock_unlock(&lock));
}

CHECK_MAIN(CASE(random_sections), CASE(beside_reader), CASE(beside_writer))
