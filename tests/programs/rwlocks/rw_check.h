/* SPDX-License-Identifier: MIT */
/* Shared by the programs that test reader-writer locks. */
#ifndef RW_CHECK_H
#define RW_CHECK_H

#include "../check.h"

/* Whether the lock under test is Hasp's. */
CHECK_UNUSED static int rw_replaced(void)
{
    const char *lock = getenv("HASP_RWLOCK");
    return lock != NULL && strcmp(lock, "glibc") != 0;
}

/* Whether a waiting writer keeps later readers out, also of the default kind. */
CHECK_UNUSED static int rw_writers_get_turns(void)
{
    return getenv("CHECK_BOUNDED") != NULL;
}

/* Returns whether threads enter in the order in which they came, except readers of a
 * phase. */
CHECK_UNUSED static int rw_in_order(void)
{
    return getenv("CHECK_IN_ORDER") != NULL;
}

/* Skips a case in which readers share the lock, for locks made of a mutex. */
CHECK_UNUSED static void rw_needs_sharing(void)
{
    if (getenv("CHECK_EXCLUSIVE") != NULL)
        check_skip("the lock's readers exclude each other");
}

enum rw_call {
    RW_READ,
    RW_WRITE,
    RW_TRY_READ,
    RW_TRY_WRITE,
    RW_TIMED_READ,
    RW_TIMED_WRITE,
    RW_PATIENT_READ, /* with a deadline that is not reached */
    RW_PATIENT_WRITE
};

/* A call in a thread of its own, which releases the lock again if it got it. */
struct rw_attempt {
    pthread_rwlock_t *lock;
    enum rw_call call;
    int result;
    int entered;
    int done;
    pid_t thread;
};

CHECK_UNUSED static int rw_do(pthread_rwlock_t *lock, enum rw_call call)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 30);
    struct timespec late = check_after_ms(CLOCK_REALTIME, 600000);
    switch (call) {
    case RW_READ:
        return pthread_rwlock_rdlock(lock);
    case RW_WRITE:
        return pthread_rwlock_wrlock(lock);
    case RW_TRY_READ:
        return pthread_rwlock_tryrdlock(lock);
    case RW_TRY_WRITE:
        return pthread_rwlock_trywrlock(lock);
    case RW_TIMED_READ:
        return pthread_rwlock_timedrdlock(lock, &soon);
    case RW_TIMED_WRITE:
        return pthread_rwlock_timedwrlock(lock, &soon);
    case RW_PATIENT_READ:
        return pthread_rwlock_timedrdlock(lock, &late);
    default:
        return pthread_rwlock_timedwrlock(lock, &late);
    }
}

CHECK_UNUSED static void *rw_attempt_body(void *argument)
{
    struct rw_attempt *attempt = argument;
    check_publish(&attempt->thread);
    attempt->result = rw_do(attempt->lock, attempt->call);
    check_set(&attempt->entered, 1);
    if (attempt->result == 0)
        CHECK_OK(pthread_rwlock_unlock(attempt->lock));
    check_set(&attempt->done, 1);
    return NULL;
}

CHECK_UNUSED static int rw_elsewhere(pthread_rwlock_t *lock, enum rw_call call)
{
    struct rw_attempt attempt = {.lock = lock, .call = call};
    check_join(check_start(rw_attempt_body, &attempt));
    return attempt.result;
}

/* Starts the call in another thread, and returns once that thread waits. */
CHECK_UNUSED static pthread_t rw_start_waiting(struct rw_attempt *attempt)
{
    pthread_t thread = check_start(rw_attempt_body, attempt);
    check_wait_queued(&attempt->thread);
    return thread;
}

/* The lock is free: both sides can have it. */
CHECK_UNUSED static void rw_check_free(pthread_rwlock_t *lock)
{
    CHECK_OK(rw_elsewhere(lock, RW_TRY_READ));
    CHECK_OK(rw_elsewhere(lock, RW_TRY_WRITE));
    CHECK_OK(rw_elsewhere(lock, RW_READ));
    CHECK_OK(rw_elsewhere(lock, RW_WRITE));
}

#endif
