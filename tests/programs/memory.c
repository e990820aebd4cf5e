/* SPDX-License-Identifier: MIT */
/* Checks that mutexes use little memory beyond their own bytes, and none
 * permanently. */
#include "check.h"

#include <sys/mman.h>

enum {
    IDLE = 1000000,
    MOST_BYTES = sizeof(pthread_mutex_t) + 64, /* of an idle mutex, in total */
    ROUNDS = 10000,
    ROUNDS_SPINNING = 1000,
    PEERS = 2,
    MOST_GROWTH = 64 * 1024, /* less than one unit of 128 bytes for each round */
};

/* Returns the anonymous memory according to the page tables, which is exact and does
 * not include code. */
static long resident_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    if (file == NULL)
        check_skip("this kernel has no smaps_rollup");
    char line[256];
    long kilobytes = -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Anonymous: %ld", &kilobytes) == 1)
            break;
    fclose(file);
    CHECK_COMPARE(kilobytes, >=, 0);
    return kilobytes * 1024;
}

static void *lock_each(void *argument)
{
    pthread_mutex_t *mutexes = argument;
    for (long i = 0; i < IDLE; i++) {
        CHECK_OK(pthread_mutex_lock(&mutexes[i]));
        CHECK_OK(pthread_mutex_unlock(&mutexes[i]));
    }
    return NULL;
}

static void million_idle_mutexes(void)
{
    size_t bytes = IDLE * sizeof(pthread_mutex_t);
    pthread_mutex_t *mutexes = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mutexes != MAP_FAILED);
    madvise(mutexes, bytes, MADV_NOHUGEPAGE);
    long before = resident_bytes();
    /* Each mutex is locked once by each of two threads, one after the other. */
    check_join(check_start(lock_each, mutexes));
    lock_each(mutexes);
    CHECK_COMPARE((resident_bytes() - before) / IDLE, <=, MOST_BYTES);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int round_now, arrived, left;

static void *contend(void *argument)
{
    for (int round = 1; round <= *(int *)argument; round++) {
        while (check_get(&round_now) < round)
            sched_yield();
        check_add(&arrived, 1);
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_add(&left, 1);
    }
    return NULL;
}

/* Two threads wait for each mutex before it is destroyed; the next one reuses the
 * memory that it needed. */
static void contended_and_destroyed(void)
{
    int rounds = check_lock_spins() ? ROUNDS_SPINNING : ROUNDS;
    pthread_t peers[PEERS];
    long before = 0;
    for (int i = 0; i < PEERS; i++)
        peers[i] = check_start(contend, &rounds);
    for (int round = 1; round <= rounds; round++) {
        CHECK_OK(pthread_mutex_init(&mutex, NULL));
        CHECK_OK(pthread_mutex_lock(&mutex));
        check_set(&round_now, round);
        while (check_get(&arrived) < PEERS * round)
            sched_yield();
        check_spin(3000);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        while (check_get(&left) < PEERS * round)
            sched_yield();
        CHECK_OK(pthread_mutex_destroy(&mutex));
        if (round == rounds / 10)
            before = resident_bytes();
    }
    for (int i = 0; i < PEERS; i++)
        check_join(peers[i]);
    CHECK_COMPARE(resident_bytes() - before, <=, MOST_GROWTH);
}

CHECK_MAIN(CASE(million_idle_mutexes), CASE(contended_and_destroyed))
