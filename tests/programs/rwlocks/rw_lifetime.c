/* SPDX-License-Identifier: MIT */
/* The memory of a lock is unmapped right after its last release; threads come and go;
 * locks are shared between processes. */
#include "rw_check.h"

#include <sys/mman.h>

static pthread_rwlock_t *mapped(int flags)
{
    pthread_rwlock_t *lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE,
                                  flags | MAP_ANONYMOUS, -1, 0);
    CHECK(lock != MAP_FAILED);
    return lock;
}

struct last_user {
    pthread_rwlock_t *lock;
    enum rw_call call;
};

static void *last_user_body(void *argument)
{
    struct last_user *user = argument;
    CHECK_OK(rw_do(user->lock, user->call));
    CHECK_OK(pthread_rwlock_unlock(user->lock));
    CHECK_OK(pthread_rwlock_destroy(user->lock));
    munmap(user->lock, sizeof *user->lock);
    return NULL;
}

/* The first user's release lets the second one in, which unmaps the lock while the
 * first one may still be about to return. */
static void unmap_after(enum rw_call first, enum rw_call second)
{
    int rounds = check_rounds(2000);
    for (int i = 0; i < rounds; i++) {
        struct last_user user = {mapped(MAP_PRIVATE), second};
        if (i % 2) { /* with the bias, if there is one */
            CHECK_OK(pthread_rwlock_rdlock(user.lock));
            CHECK_OK(pthread_rwlock_unlock(user.lock));
        }
        CHECK_OK(rw_do(user.lock, first));
        pthread_t other = check_start(last_user_body, &user);
        check_spin(i % 64 * 200);
        CHECK_OK(pthread_rwlock_unlock(user.lock));
        check_join(other);
    }
}

static void unmapped_by_a_reader_after_a_writer(void)
{
    unmap_after(RW_WRITE, RW_READ);
}

static void unmapped_by_a_writer_after_a_reader(void)
{
    unmap_after(RW_READ, RW_WRITE);
}

static void unmapped_by_a_writer_after_a_writer(void)
{
    unmap_after(RW_WRITE, RW_WRITE);
}

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long counter;

static void *visit_body(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    CHECK_OK(pthread_rwlock_unlock(&lock));
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    counter++;
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static void threads_come_and_go(void)
{
    enum { THREADS = 3000, AT_ONCE = 4 };
    for (int i = 0; i < THREADS; i += AT_ONCE) {
        pthread_t started[AT_ONCE];
        for (int j = 0; j < AT_ONCE; j++)
            started[j] = check_start(visit_body, NULL);
        for (int j = 0; j < AT_ONCE; j++)
            check_join(started[j]);
    }
    CHECK_EQUAL(counter, THREADS);
    rw_check_free(&lock);
}

static void *exits_while_reading(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    return NULL;
}

static void thread_that_ended_still_reads(void)
{
    rw_needs_sharing();
    check_join(check_start(exits_while_reading, NULL));
    CHECK_RETURNS(pthread_rwlock_trywrlock(&lock), EBUSY);
    CHECK_OK(rw_elsewhere(&lock, RW_TRY_READ));
    CHECK_OK(pthread_rwlock_unlock(&lock)); /* for it */
    rw_check_free(&lock);
}

static void shared_between_processes(void)
{
    struct shared {
        pthread_rwlock_t lock;
        int readers, written;
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_rwlockattr_t attributes;
    CHECK(shared != MAP_FAILED);
    CHECK_OK(pthread_rwlockattr_init(&attributes));
    CHECK_OK(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_rwlock_init(&shared->lock, &attributes));
    CHECK_OK(pthread_rwlock_rdlock(&shared->lock));
    pid_t child = fork();
    if (child == 0) {
        CHECK_OK(pthread_rwlock_rdlock(&shared->lock));
        CHECK_OK(pthread_rwlock_unlock(&shared->lock));
        CHECK_RETURNS(pthread_rwlock_trywrlock(&shared->lock), EBUSY);
        check_set(&shared->readers, 1);
        CHECK_OK(pthread_rwlock_wrlock(&shared->lock));
        shared->written = 1;
        CHECK_OK(pthread_rwlock_unlock(&shared->lock));
        _exit(0);
    }
    CHECK_UNTIL(check_get(&shared->readers));
    CHECK_EQUAL(check_get(&shared->written), 0);
    CHECK_OK(pthread_rwlock_unlock(&shared->lock));
    check_child(child);
    CHECK_EQUAL(shared->written, 1);
    CHECK_OK(pthread_rwlock_wrlock(&shared->lock));
    CHECK_OK(pthread_rwlock_unlock(&shared->lock));
    CHECK_OK(pthread_rwlock_destroy(&shared->lock));
}

CHECK_MAIN(CASE(unmapped_by_a_reader_after_a_writer),
           CASE(unmapped_by_a_writer_after_a_reader),
           CASE(unmapped_by_a_writer_after_a_writer), CASE(threads_come_and_go),
           CASE(thread_that_ended_still_reads), CASE(shared_between_processes))
