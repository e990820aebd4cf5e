/* SPDX-License-Identifier: MIT */
/* Forks while threads hold the lock or wait for it. */
#include "rw_check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int stop, entered;

static void use_from_threads(void)
{
    rw_check_free(&lock);
    pthread_t threads[4];
    struct rw_attempt attempts[4];
    for (int i = 0; i < 4; i++) {
        enum rw_call call = i % 2 ? RW_READ : RW_WRITE;
        attempts[i] = (struct rw_attempt){.lock = &lock, .call = call};
        threads[i] = check_start(rw_attempt_body, &attempts[i]);
    }
    for (int i = 0; i < 4; i++)
        check_join(threads[i]);
}

/* Forks; the child releases the lock and uses it from threads of its own. */
static void release_in_both(void)
{
    pid_t child = fork();
    if (child == 0) {
        CHECK_OK(pthread_rwlock_unlock(&lock));
        use_from_threads();
        _exit(0);
    }
    CHECK_OK(pthread_rwlock_unlock(&lock));
    check_child(child);
}

static void by_a_reader(void)
{
    for (int used = 0; used < 2; used++) {
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        release_in_both();
        rw_check_free(&lock);
    }
}

static void by_a_writer(void)
{
    if (!rw_replaced())
        check_skip("glibc's lock does not know the writer in the child");
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    release_in_both();
    rw_check_free(&lock);
}

static void by_a_reader_while_others_wait(void)
{
    if (!rw_replaced())
        check_skip("with glibc's lock, the child waits for a writer of the parent");
    for (int used = 0; used < 2; used++) {
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        struct rw_attempt writers[2] = {{.lock = &lock, .call = RW_WRITE},
                                        {.lock = &lock, .call = RW_WRITE}};
        pthread_t first = rw_start_waiting(&writers[0]);
        pthread_t second = rw_start_waiting(&writers[1]);
        release_in_both();
        check_join(first);
        check_join(second);
        rw_check_free(&lock);
    }
}

static void by_a_writer_while_others_wait(void)
{
    if (!rw_replaced())
        check_skip("glibc's lock does not know the writer in the child");
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    struct rw_attempt attempts[2] = {{.lock = &lock, .call = RW_READ},
                                     {.lock = &lock, .call = RW_WRITE}};
    pthread_t first = rw_start_waiting(&attempts[0]);
    pthread_t second = rw_start_waiting(&attempts[1]);
    release_in_both();
    check_join(first);
    check_join(second);
    rw_check_free(&lock);
}

static void *holds_until_told(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    check_set(&entered, 1);
    CHECK_UNTIL(check_get(&stop));
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

/* A thread of the parent reads; the child can still read. */
static void while_another_thread_reads(void)
{
    rw_needs_sharing();
    pthread_t reader = check_start(holds_until_told, NULL);
    CHECK_UNTIL(check_get(&entered));
    pid_t child = fork();
    if (child == 0) {
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        CHECK_OK(pthread_rwlock_unlock(&lock));
        CHECK_OK(rw_elsewhere(&lock, RW_READ));
        _exit(0);
    }
    check_child(child);
    check_set(&stop, 1);
    check_join(reader);
    rw_check_free(&lock);
}

static void *reads_and_writes(void *argument)
{
    for (unsigned turn = 0; !check_get(&stop); turn++) {
        int writes = (turn + (unsigned)(long)argument) % 4 == 0;
        CHECK_OK(rw_do(&lock, writes ? RW_WRITE : RW_READ));
        check_dawdle(turn);
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    return NULL;
}

/* As a fork handler does it: the forking thread holds the lock for writing. */
static void storm(void)
{
    if (!rw_replaced())
        check_skip("glibc's lock does not know the writer in the child");
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        threads[i] = check_start(reads_and_writes, (void *)i);
    for (int i = 0; i < 40; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&lock));
        release_in_both();
    }
    check_set(&stop, 1);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    rw_check_free(&lock);
}

CHECK_MAIN(CASE(by_a_reader), CASE(by_a_writer), CASE(by_a_reader_while_others_wait),
           CASE(by_a_writer_while_others_wait), CASE(while_another_thread_reads),
           CASE(storm))
