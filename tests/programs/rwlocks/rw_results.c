/* SPDX-License-Identifier: MIT */
/* What each function returns for a free lock, a lock held for reading, one held for
 * writing, and for bad arguments. */
#include "rw_check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void held_for_writing(void)
{
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    CHECK_RETURNS(pthread_rwlock_rdlock(&lock), EDEADLK);
    CHECK_RETURNS(pthread_rwlock_wrlock(&lock), EDEADLK);
    CHECK_RETURNS(rw_do(&lock, RW_TIMED_READ), EDEADLK);
    CHECK_RETURNS(rw_do(&lock, RW_TIMED_WRITE), EDEADLK);
    CHECK_RETURNS(pthread_rwlock_tryrdlock(&lock), EBUSY);
    CHECK_RETURNS(pthread_rwlock_trywrlock(&lock), EBUSY);
    CHECK_RETURNS(rw_elsewhere(&lock, RW_TRY_READ), EBUSY);
    CHECK_RETURNS(rw_elsewhere(&lock, RW_TRY_WRITE), EBUSY);
    CHECK_RETURNS(rw_elsewhere(&lock, RW_TIMED_READ), ETIMEDOUT);
    CHECK_RETURNS(rw_elsewhere(&lock, RW_TIMED_WRITE), ETIMEDOUT);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    rw_check_free(&lock);
}

static void held_for_reading(void)
{
    rw_needs_sharing();
    for (int i = 0; i < 3; i++) { /* the later rounds with the bias, if there is one */
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        CHECK_OK(rw_elsewhere(&lock, RW_TRY_READ));
        CHECK_OK(rw_elsewhere(&lock, RW_READ));
        CHECK_OK(rw_elsewhere(&lock, RW_TIMED_READ));
        CHECK_RETURNS(rw_elsewhere(&lock, RW_TRY_WRITE), EBUSY);
        CHECK_RETURNS(rw_elsewhere(&lock, RW_TIMED_WRITE), ETIMEDOUT);
        CHECK_OK(rw_elsewhere(&lock, RW_READ));
        CHECK_OK(pthread_rwlock_unlock(&lock));
        rw_check_free(&lock);
    }
}

static void reader_that_wants_to_write(void)
{
    for (int i = 0; i < 3; i++) {
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        CHECK_RETURNS(pthread_rwlock_trywrlock(&lock), EBUSY);
        CHECK_RETURNS(rw_do(&lock, RW_TIMED_WRITE), ETIMEDOUT);
        if (rw_replaced()) /* glibc's waits for ever */
            CHECK_RETURNS(pthread_rwlock_wrlock(&lock), EDEADLK);
        CHECK_RETURNS(rw_elsewhere(&lock, RW_TRY_WRITE), EBUSY);
        CHECK_OK(pthread_rwlock_unlock(&lock));
        rw_check_free(&lock);
    }
}

static int timed(int write, int clock, struct timespec at)
{
    if (clock == -1)
        return write ? pthread_rwlock_timedwrlock(&lock, &at)
                     : pthread_rwlock_timedrdlock(&lock, &at);
    return write ? pthread_rwlock_clockwrlock(&lock, clock, &at)
                 : pthread_rwlock_clockrdlock(&lock, clock, &at);
}

static void deadlines(void)
{
    static const int clocks[] = {-1, CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int i = 0; i < 6; i++) {
        int clock = clocks[i / 2], write = i % 2;
        int reads = clock == -1 ? CLOCK_REALTIME : clock;
        struct timespec bad = {0, 1000000000}, negative = {0, -1}, epoch = {0, 0};
        CHECK_RETURNS(timed(write, clock, bad), EINVAL);
        CHECK_RETURNS(timed(write, clock, negative), EINVAL);
        CHECK_OK(timed(write, clock, epoch)); /* the lock is free */
        CHECK_OK(pthread_rwlock_unlock(&lock));
        struct timespec soon = check_after_ms(reads, 30);
        pthread_rwlock_wrlock(&lock);
        CHECK_RETURNS(timed(write, clock, soon), EDEADLK);
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    struct timespec now = check_after_ms(CLOCK_MONOTONIC, 10);
    CHECK_RETURNS(pthread_rwlock_clockrdlock(&lock, CLOCK_BOOTTIME, &now), EINVAL);
    CHECK_RETURNS(pthread_rwlock_clockwrlock(&lock, CLOCK_BOOTTIME, &now), EINVAL);
    rw_check_free(&lock);
}

static void *waits_until_deadline(void *argument)
{
    int clock = (int)(long)argument / 2, write = (int)(long)argument % 2;
    struct timespec at = check_after_ms(clock, 30);
    CHECK_RETURNS(timed(write, clock, at), ETIMEDOUT);
    CHECK_COMPARE(check_now_ns(clock), >=, at.tv_sec * 1000000000LL + at.tv_nsec);
    return NULL;
}

static void waits_last_until_the_deadline(void)
{
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    for (long i = 0; i < 4; i++) {
        long clock = i < 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        check_join(check_start(waits_until_deadline, (void *)(2 * clock + i % 2)));
    }
    CHECK_OK(pthread_rwlock_unlock(&lock));
    rw_check_free(&lock);
}

static void waiters_that_give_up_leave_no_trace(void)
{
    rw_needs_sharing();
    for (int i = 0; i < 2; i++) {
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        struct rw_attempt writer = {.lock = &lock, .call = RW_TIMED_WRITE};
        struct rw_attempt reader = {.lock = &lock, .call = RW_READ};
        pthread_t gives_up = rw_start_waiting(&writer);
        pthread_t reads = check_start(rw_attempt_body, &reader);
        check_join(gives_up);
        check_join(reads); /* although the first reader still holds the lock */
        CHECK_RETURNS(writer.result, ETIMEDOUT);
        CHECK_OK(reader.result);
        CHECK_OK(rw_elsewhere(&lock, RW_TRY_READ));
        CHECK_OK(pthread_rwlock_unlock(&lock));
        rw_check_free(&lock);
    }
}

/* Programs do that at their end. glibc's function returns 0. */
static void destroyed_while_held(void)
{
    pthread_rwlock_t read = PTHREAD_RWLOCK_INITIALIZER, written = read;
    CHECK_OK(pthread_rwlock_rdlock(&read));
    CHECK_OK(pthread_rwlock_destroy(&read));
    CHECK_OK(pthread_rwlock_wrlock(&written));
    CHECK_OK(pthread_rwlock_destroy(&written));
}

CHECK_MAIN(CASE(held_for_writing), CASE(held_for_reading),
           CASE(reader_that_wants_to_write), CASE(deadlines),
           CASE(waits_last_until_the_deadline),
           CASE(waiters_that_give_up_leave_no_trace), CASE(destroyed_while_held))
