/* SPDX-License-Identifier: MIT */
/* Writers exclude everybody; readers share. */
#include "rw_check.h"

enum { THREADS_MOST = 64 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long first, second; /* equal outside of write sections */
static int readers, writers;
static int rounds, percent_of_writes;
static long written;

static void write_section(long turn)
{
    CHECK_EQUAL(check_add(&writers, 1), 1);
    CHECK_EQUAL(check_get(&readers), 0);
    long before = first;
    check_dawdle(turn);
    first = before + 1;
    second++;
    check_add(&writers, -1);
    CHECK_OK(pthread_rwlock_unlock(&lock));
}

static void read_section(long turn)
{
    check_add(&readers, 1);
    CHECK_EQUAL(check_get(&writers), 0);
    long seen = first;
    check_dawdle(turn);
    CHECK_EQUAL(seen, second);
    check_add(&readers, -1);
    CHECK_OK(pthread_rwlock_unlock(&lock));
}

/* Tries now and then in the other ways, and counts what it wrote. */
static void *body(void *argument)
{
    unsigned random = (unsigned)(long)argument * 7919u + 1;
    long done = 0;
    for (long turn = 0; turn < rounds; turn++) {
        random = random * 1103515245u + 12345u;
        unsigned dice = random >> 16;
        int writes = (int)(dice % 100) < percent_of_writes;
        unsigned way = dice / 100 % 8;
        enum rw_call call = way == 0   ? RW_TRY_READ
                            : way == 1 ? RW_TIMED_READ
                                       : RW_READ;
        int result = rw_do(&lock, writes ? (enum rw_call)(call + 1) : call);
        if (result != 0) {
            CHECK_RETURNS(result, way == 0 ? EBUSY : ETIMEDOUT);
            continue;
        }
        if (writes) {
            write_section(turn);
            done++;
        } else {
            read_section(turn);
        }
    }
    __atomic_add_fetch(&written, done, __ATOMIC_RELAXED);
    return NULL;
}

static void run(int threads, int all_rounds, int percent)
{
    pthread_t started[THREADS_MOST];
    rounds = check_rounds(all_rounds);
    percent_of_writes = percent;
    for (long i = 0; i < threads; i++)
        started[i] = check_start(body, (void *)i);
    for (int i = 0; i < threads; i++)
        check_join(started[i]);
    CHECK_EQUAL(first, written);
    CHECK_EQUAL(second, written);
    rw_check_free(&lock);
}

static void mostly_reads(void)
{
    run(4, 4000, 5);
}

static void half_writes(void)
{
    run(4, 3000, 50);
}

static void only_writes(void)
{
    run(4, 3000, 100);
}

static void sixty_four_threads(void)
{
    run(64, 400, 20);
}

static pthread_barrier_t inside;

static void *share_body(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        pthread_barrier_wait(&inside); /* returns only if all are inside */
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    return NULL;
}

static void readers_are_inside_together(void)
{
    rw_needs_sharing();
    enum { READERS = 5 };
    pthread_t started[READERS];
    CHECK_OK(pthread_barrier_init(&inside, NULL, READERS));
    for (int i = 0; i < READERS; i++)
        started[i] = check_start(share_body, NULL);
    for (int i = 0; i < READERS; i++)
        check_join(started[i]);
    rw_check_free(&lock);
}

CHECK_MAIN(CASE(mostly_reads), CASE(half_writes), CASE(only_writes),
           CASE(sixty_four_threads), CASE(readers_are_inside_together))
