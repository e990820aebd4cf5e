/* SPDX-License-Identifier: MIT */
/*
 * Calls every lock of the list through its operations on a bare struct lock, and checks
 * mutual exclusion, trylock, deadlines, waiters that leave the queue, and that nothing
 * is left over. The same checks run on the wrong locks of wrong_locks.h, which they
 * must reject:
 *
 *   locks NAME...    these locks pass; without names, all
 *   locks list       names are found; also tests the default lock without its bias
 *   locks wrong N    exit status 1 if the N-th wrong lock is refused, 0 if it passes
 *
 * HASP_TOPOLOGY simulates NUMA nodes, as under the interposer.
 */
#include "check.h"
#include "wrong_locks.h"

#include "locks/list/descriptor.h"

#include <string.h>

enum { THREADS = 3, ROUNDS = 1500, LEAVERS = 2, LEAVES = 150 };

struct subject {
    struct lock lock;
    const struct lock_operations *operations;
    volatile long plain; /* guarded by the lock, and deliberately not atomic */
    struct atomic_u32 inside, ready;
};

static struct deadline from_now(uint64_t ns)
{
    uint64_t at = now_ns() + ns;
    struct deadline deadline = {CLOCK_MONOTONIC, {0, 0}};
    deadline.at.tv_sec = (time_t)(at / 1000000000u);
    deadline.at.tv_nsec = (long)(at % 1000000000u);
    return deadline;
}

/* The critical section. Two threads in it at once are detected by `inside`, or by a
 * lost update. */
static void section(struct subject *subject)
{
    CHECK_EQUAL(fetch_add_relaxed(&subject->inside, 1), 0);
    long plain = subject->plain;
    if (plain % 64 == 0)
        yield(); /* let other threads run, even on one CPU */
    else
        relax();
    subject->plain = plain + 1;
    CHECK_EQUAL(fetch_add_relaxed(&subject->inside, UINT32_MAX), 1);
}

/* Starting a thread takes longer than all its rounds, so the threads wait until all
 * have started. */
static void start_together(struct subject *subject)
{
    fetch_add_relaxed(&subject->ready, 1);
    while (load_relaxed(&subject->ready) < THREADS + LEAVERS)
        yield();
}

static void *locker(void *argument)
{
    struct subject *subject = argument;
    start_together(subject);
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 7 == 3) {
            spin_until(subject->operations->trylock(&subject->lock));
        } else if (round % 11 == 5) {
            struct deadline far = from_now(60000000000u);
            CHECK(subject->operations->timedlock(&subject->lock, &far));
        } else {
            subject->operations->lock(&subject->lock);
        }
        section(subject);
        subject->operations->unlock(&subject->lock);
    }
    return NULL;
}

/* Repeatedly times out in the middle of the queue, and counts its acquisitions. */
static void *leaver(void *argument)
{
    struct subject *subject = argument;
    long acquired = 0;
    start_together(subject);
    for (int round = 0; round < LEAVES; round++) {
        struct deadline soon = from_now(1000u * (unsigned)(round % 40));
        if (subject->operations->timedlock(&subject->lock, &soon)) {
            section(subject);
            subject->operations->unlock(&subject->lock);
            acquired++;
        }
    }
    return (void *)acquired;
}

static void check_alone(struct subject *subject)
{
    const struct lock_operations *operations = subject->operations;
    struct lock *lock = &subject->lock;
    struct deadline soon = from_now(2000000), past = {CLOCK_MONOTONIC, {0, 0}};
    CHECK(operations->trylock(lock));
    CHECK_EQUAL(load_relaxed(&lock->owner), current_thread());
    CHECK(load_relaxed(&lock->word) != 0);
    CHECK(!operations->trylock(lock));
    CHECK(!operations->timedlock(lock, &past));
    CHECK(!operations->timedlock(lock, &soon));
    CHECK(deadline_passed(&soon));
    operations->unlock(lock);
    CHECK_EQUAL(load_relaxed(&lock->word), 0);
    CHECK(operations->trylock(lock)); /* also if a waiter has left the queue */
    operations->unlock(lock);
    CHECK(operations->timedlock(lock, &past)); /* a free lock ignores the deadline */
    operations->unlock(lock);
}

static void check_together(struct subject *subject)
{
    pthread_t lockers[THREADS], leavers[LEAVERS];
    store_relaxed(&subject->ready, 0);
    long expected = subject->plain + (long)THREADS * ROUNDS;
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&lockers[i], NULL, locker, subject), 0);
    for (int i = 0; i < LEAVERS; i++)
        CHECK_EQUAL(pthread_create(&leavers[i], NULL, leaver, subject), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(lockers[i], NULL);
    for (int i = 0; i < LEAVERS; i++) {
        void *acquired;
        pthread_join(leavers[i], &acquired);
        expected += (long)acquired;
    }
    CHECK_EQUAL(subject->plain, expected);
    CHECK(subject->operations->trylock(&subject->lock));
    subject->operations->unlock(&subject->lock);
}

static void check_lock(const struct lock_operations *operations)
{
    static struct subject subject; /* an unlocked lock is zeroed memory */
    memset(&subject, 0, sizeof subject);
    subject.operations = operations;
    check_alone(&subject);
    check_together(&subject);
    check_alone(&subject);
    operations->destroy(&subject.lock);
    uint32_t waiters = waiter_count();
    memset(&subject.lock, 0, sizeof subject.lock);
    check_together(&subject);
    operations->destroy(&subject.lock);
    /* Waiters are reused, but those of timed-out threads may stay in the queue for as
     * long as the lock is held. */
    CHECK(waiter_count() <= waiters + LEAVERS * LEAVES + THREADS);
}

int main(int count, char **words)
{
    CHECK(topology_read(getenv("HASP_TOPOLOGY")));
    if (count == 3 && strcmp(words[1], "wrong") == 0) {
        for (int attempt = 0; attempt < 20;
             attempt++) /* a race need not occur at once */
            check_lock(&wrong_locks[atoi(words[2])]);
        return 0;
    }
    if (count == 2 && strcmp(words[1], "list") == 0) {
        CHECK_EQUAL(lock_find("MCS_STP"), lock_find("mcs-park"));
        CHECK_EQUAL(lock_find("no-such-lock"), -1);
        int wrapped = lock_find("gcr+MCS_STP");
        CHECK(wrapped > 0);
        CHECK_EQUAL(strcmp(lock_at((unsigned)wrapped).name, "gcr+mcs-park"), 0);
        CHECK_EQUAL(lock_find("gcr+glibc"), -1);
        CHECK_EQUAL(lock_find("gcr+gcr+mcs"), -1);
        check_lock(&futex_unbiased_operations);
        return 0;
    }
    for (int i = 1; i < count; i++) {
        int found = lock_find(words[i]);
        CHECK(found > 0);
        check_lock(lock_operations_at((unsigned)found));
    }
    if (count > 1)
        return 0;
    for (unsigned i = 1; i < lock_count; i++) {
        fprintf(stderr, "%s\n", lock_at(i).name);
        check_lock(lock_operations_at(i));
    }
    return 0;
}
