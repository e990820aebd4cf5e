/* SPDX-License-Identifier: MIT */
/* Who comes first: recursive readers, waiting writers, kinds, release by others. */
#include "rw_check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t writers_first =
    PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

/* Takes a read lock, and returns once the writer waits for its release. */
static pthread_t read_before(struct rw_attempt *writer, pthread_rwlock_t *on)
{
    *writer = (struct rw_attempt){.lock = on, .call = RW_WRITE};
    CHECK_OK(pthread_rwlock_rdlock(on));
    return rw_start_waiting(writer);
}

/* Releases the last read lock, which lets the writer in. */
static void release_to(struct rw_attempt *writer, pthread_t thread)
{
    CHECK_EQUAL(check_get(&writer->done), 0);
    CHECK_OK(pthread_rwlock_unlock(writer->lock));
    check_join(thread);
    CHECK_OK(writer->result);
}

static void use_once(void)
{
    CHECK_OK(pthread_rwlock_rdlock(&lock)); /* a lock with a bias has it from now on */
    CHECK_OK(pthread_rwlock_unlock(&lock));
}

static void recursive_reader(void)
{
    for (int used = 0; used < 2; used++) {
        if (used)
            use_once();
        struct rw_attempt writer;
        pthread_t waits = read_before(&writer, &lock);
        for (int depth = 0; depth < 5; depth++)
            CHECK_OK(pthread_rwlock_rdlock(&lock));
        CHECK_OK(pthread_rwlock_tryrdlock(&lock));
        CHECK_OK(rw_do(&lock, RW_TIMED_READ));
        for (int depth = 0; depth < 7; depth++) {
            CHECK_EQUAL(check_get(&writer.done), 0);
            CHECK_OK(pthread_rwlock_unlock(&lock));
        }
        release_to(&writer, waits);
        rw_check_free(&lock);
    }
}

static void read_many_times(pthread_rwlock_t *on, int times)
{
    for (int i = 0; i < times; i++)
        CHECK_OK(i % 9 == 7   ? pthread_rwlock_tryrdlock(on)
                 : i % 9 == 8 ? rw_do(on, RW_TIMED_READ)
                              : pthread_rwlock_rdlock(on));
}

static void unlock_many_times(pthread_rwlock_t *on, int times)
{
    for (int i = 0; i < times; i++)
        CHECK_OK(pthread_rwlock_unlock(on));
}

/* Reads recursively and deep while a writer waits, and the reader has other locks. */
static void deep_recursion_beside(pthread_rwlock_t *others, int count)
{
    enum { DEPTH = 40, MORE = 700 };
    for (int i = 0; i < count; i++)
        CHECK_OK(pthread_rwlock_rdlock(&others[i]));
    read_many_times(&lock, DEPTH);
    struct rw_attempt writer = {.lock = &lock, .call = RW_WRITE};
    pthread_t waits = rw_start_waiting(&writer);
    read_many_times(&lock, MORE);
    unlock_many_times(&lock, MORE + DEPTH - 1);
    CHECK_EQUAL(check_get(&writer.done), 0);
    unlock_many_times(&lock, 1);
    check_join(waits);
    CHECK_OK(writer.result);
    for (int i = 0; i < count; i++)
        CHECK_OK(pthread_rwlock_unlock(&others[i]));
    rw_check_free(&lock);
}

static void deep_recursion(void)
{
    static pthread_rwlock_t others[300];
    for (int count = 0; count <= 300; count += count < 12 ? 4 : 96)
        deep_recursion_beside(others, count);
    rw_check_free(&others[0]);
    rw_check_free(&others[299]);
}

static void *recurse_and_leave(void *unused)
{
    (void)unused;
    read_many_times(&lock, 40);
    unlock_many_times(&lock, 40);
    return NULL;
}

/* The release of a hold takes no other thread's, so that this one may still recurse. */
static void recursion_beside_another_reader(void)
{
    rw_needs_sharing();
    for (int used = 0; used < 2; used++) {
        if (used)
            use_once();
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        check_join(check_start(recurse_and_leave, NULL));
        struct rw_attempt writer = {.lock = &lock, .call = RW_WRITE};
        pthread_t waits = rw_start_waiting(&writer);
        read_many_times(&lock, 20);
        unlock_many_times(&lock, 20);
        CHECK_EQUAL(check_get(&writer.done), 0);
        unlock_many_times(&lock, 1);
        check_join(waits);
        rw_check_free(&lock);
    }
}

static void *unlock_body(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

/* Another thread releases one of two holds: the lock stays read. */
static void another_thread_releases_one_of_two(void)
{
    for (int used = 0; used < 2; used++) {
        if (used)
            use_once();
        struct rw_attempt writer;
        pthread_t waits = read_before(&writer, &lock);
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        check_join(check_start(unlock_body, NULL));
        CHECK_RETURNS(rw_elsewhere(&lock, RW_TRY_WRITE), EBUSY);
        release_to(&writer, waits);
        rw_check_free(&lock);
    }
}

/* More locks than a thread's record has entries, released in another order. */
static void many_locks_at_once(void)
{
    enum { LOCKS = 40 };
    static pthread_rwlock_t many[LOCKS];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < LOCKS; i++)
            CHECK_OK(pthread_rwlock_rdlock(&many[i]));
        for (int i = 0; i < LOCKS; i++)
            CHECK_RETURNS(rw_elsewhere(&many[i], RW_TRY_WRITE), EBUSY);
        for (int i = 0; i < LOCKS; i++)
            CHECK_OK(pthread_rwlock_unlock(&many[(i * 7 + round) % LOCKS]));
        for (int i = 0; i < LOCKS; i++)
            rw_check_free(&many[i]);
    }
}

static void waiting_writer_gets_its_turn(void)
{
    for (int used = 0; used < 2; used++) {
        if (used)
            use_once();
        struct rw_attempt writer;
        pthread_t waits = read_before(&writer, &lock);
        if (rw_writers_get_turns())
            CHECK_RETURNS(rw_elsewhere(&lock, RW_TIMED_READ), ETIMEDOUT);
        release_to(&writer, waits);
        rw_check_free(&lock);
    }
}

/* Threads that arrive after a waiting thread, and lock until it has entered. */
struct rivals {
    pthread_rwlock_t *lock;
    enum rw_call call;
    int entered; /* how often they entered before it */
    int *done;
};

static void *rival_body(void *argument)
{
    struct rivals *rivals = argument;
    while (!check_get(rivals->done)) {
        CHECK_OK(rw_do(rivals->lock, rivals->call));
        if (!check_get(rivals->done))
            check_add(&rivals->entered, 1);
        check_dawdle(check_get(&rivals->entered));
        CHECK_OK(pthread_rwlock_unlock(rivals->lock));
    }
    return NULL;
}

/* Returns how often later rivals enter before a thread that already waits. The lock is
 * held for reading or writing, as `held` says, when they come. */
static int overtaken(enum rw_call held, enum rw_call waits, enum rw_call rivals_call)
{
    enum { RIVALS = 3 };
    pthread_t others[RIVALS];
    struct rw_attempt waiter = {.lock = &lock, .call = waits};
    struct rivals rivals = {&lock, rivals_call, 0, &waiter.entered};
    CHECK_OK(rw_do(&lock, held));
    pthread_t thread = rw_start_waiting(&waiter);
    for (int i = 0; i < RIVALS; i++)
        others[i] = check_start(rival_body, &rivals);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    check_join(thread);
    CHECK_OK(waiter.result);
    for (int i = 0; i < RIVALS; i++)
        check_join(others[i]);
    rw_check_free(&lock);
    return check_get(&rivals.entered);
}

/* A thread with a deadline waits its turn, as those without do. */
static void timed_waiters_get_their_turn(void)
{
    if (!rw_writers_get_turns())
        check_skip("readers overtake waiting writers");
    for (int round = 0; round < 20; round++) {
        CHECK_COMPARE(overtaken(RW_READ, RW_PATIENT_WRITE, RW_READ), <=, 3);
        if (!rw_in_order())
            continue;
        CHECK_COMPARE(overtaken(RW_WRITE, RW_PATIENT_WRITE, RW_WRITE), <=, 1);
        CHECK_COMPARE(overtaken(RW_WRITE, RW_PATIENT_READ, RW_WRITE), <=, 1);
    }
}

/* With the default kind, a reader waits for at most two batches of writers. */
static void waiting_reader_gets_its_turn(void)
{
    const char *batch = getenv("CHECK_BATCH");
    if (!batch)
        check_skip("the lock has no batches of writers");
    for (int round = 0; round < 20; round++) {
        CHECK_COMPARE(overtaken(RW_WRITE, RW_READ, RW_WRITE), <=, 2 * atoi(batch));
        CHECK_COMPARE(overtaken(RW_WRITE, RW_PATIENT_READ, RW_WRITE), <=,
                      2 * atoi(batch));
    }
}

static void *give_up_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < check_rounds(200); i++) {
        struct timespec soon = check_after_us(CLOCK_MONOTONIC, 20 + i % 80);
        int result = i % 3 ? pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon)
                           : pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &soon);
        if (result == 0)
            CHECK_OK(pthread_rwlock_unlock(&lock));
        else
            CHECK_RETURNS(result, ETIMEDOUT);
    }
    return NULL;
}

static void *lock_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < check_rounds(400); i++) {
        CHECK_OK(rw_do(&lock, i % 2 ? RW_READ : RW_WRITE));
        check_dawdle(i);
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    return NULL;
}

/* Threads give up in every state of the lock; no other thread waits for ever. */
static void many_give_up(void)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_start(i % 2 ? lock_often : give_up_often, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    rw_check_free(&lock);
    CHECK_OK(pthread_rwlock_destroy(&lock));
    memset(&lock, 0, sizeof lock);
}

static void kind_that_prefers_writers(void)
{
    for (int round = 0; round < 2; round++) {
        struct rw_attempt writer;
        pthread_t waits = read_before(&writer, &writers_first);
        CHECK_RETURNS(rw_elsewhere(&writers_first, RW_TIMED_READ), ETIMEDOUT);
        CHECK_RETURNS(rw_elsewhere(&writers_first, RW_TRY_READ), EBUSY);
        struct rw_attempt reader = {.lock = &writers_first, .call = RW_READ};
        pthread_t reads = rw_start_waiting(&reader);
        CHECK_EQUAL(check_get(&reader.done), 0);
        release_to(&writer, waits);
        check_join(reads);
        rw_check_free(&writers_first);
    }
}

static void kind_from_attributes(void)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlock_t made;
    memset(&made, 0xff, sizeof made);
    CHECK_OK(pthread_rwlockattr_init(&attributes));
    CHECK_OK(pthread_rwlockattr_setkind_np(
        &attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    CHECK_OK(pthread_rwlock_init(&made, &attributes));
    struct rw_attempt writer;
    pthread_t waits = read_before(&writer, &made);
    CHECK_RETURNS(rw_elsewhere(&made, RW_TRY_READ), EBUSY);
    release_to(&writer, waits);
    rw_check_free(&made);
    CHECK_OK(pthread_rwlock_destroy(&made));
}

static void zeroed_and_made_again(void)
{
    pthread_rwlock_t *zeroed = calloc(1, sizeof *zeroed);
    rw_check_free(zeroed);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(pthread_rwlock_destroy(zeroed));
        memset(zeroed, 0x5a, sizeof *zeroed);
        CHECK_OK(pthread_rwlock_init(zeroed, NULL));
        rw_check_free(zeroed);
    }
    free(zeroed);
}

/* POSIX leaves it undefined, but with glibc's lock it works. */
static void another_thread_releases_a_read_lock(void)
{
    for (int used = 0; used < 2; used++) {
        if (used)
            use_once();
        struct rw_attempt writer;
        pthread_t waits = read_before(&writer, &lock);
        check_join(check_start(unlock_body, NULL));
        check_join(waits);
        rw_check_free(&lock);
        CHECK_OK(pthread_rwlock_wrlock(&lock)); /* the record has no trace of it */
        CHECK_OK(pthread_rwlock_unlock(&lock));
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        CHECK_OK(pthread_rwlock_unlock(&lock));
        rw_check_free(&lock);
    }
}

static void another_thread_releases_a_write_lock(void)
{
    if (!rw_replaced())
        check_skip("glibc's lock takes it for the release of a read lock");
    use_once();
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    check_join(check_start(unlock_body, NULL));
    rw_check_free(&lock);
}

CHECK_MAIN(CASE(recursive_reader), CASE(deep_recursion),
           CASE(recursion_beside_another_reader), CASE(many_locks_at_once),
           CASE(waiting_writer_gets_its_turn), CASE(timed_waiters_get_their_turn),
           CASE(waiting_reader_gets_its_turn), CASE(many_give_up),
           CASE(kind_that_prefers_writers), CASE(kind_from_attributes),
           CASE(zeroed_and_made_again),
           CASE(another_thread_releases_a_read_lock),
           CASE(another_thread_releases_one_of_two),
           CASE(another_thread_releases_a_write_lock))
