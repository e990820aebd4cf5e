/* SPDX-License-Identifier: MIT */
/* Cancellation: a thread of the asynchronous type can be cancelled while it waits; one
 * of the deferred type is not; the lock stays usable in both cases. Signals interrupt
 * no wait. */
#include "rw_check.h"

#include <signal.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

struct cancelled {
    enum rw_call call;
    int type;
    pid_t thread;
    int got;
};

static void *waits(void *argument)
{
    struct cancelled *cancelled = argument;
    int before;
    CHECK_OK(pthread_setcanceltype(cancelled->type, &before));
    check_publish(&cancelled->thread);
    CHECK_OK(rw_do(&lock, cancelled->call));
    check_set(&cancelled->got, 1);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    pthread_testcancel();
    return NULL;
}

static void cancel_while_waiting(enum rw_call holder, enum rw_call waiter, int type)
{
    CHECK_OK(rw_do(&lock, holder));
    struct cancelled cancelled = {waiter, type, 0, 0};
    pthread_t thread = check_start(waits, &cancelled);
    check_wait_queued(&cancelled.thread);
    CHECK_OK(pthread_cancel(thread));
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS) {
        CHECK(check_join(thread) == PTHREAD_CANCELED);
        CHECK_EQUAL(cancelled.got, 0);
        CHECK_OK(pthread_rwlock_unlock(&lock));
    } else {
        check_sleep_ms(5);
        CHECK_OK(pthread_rwlock_unlock(&lock));
        CHECK(check_join(thread) == PTHREAD_CANCELED);
        CHECK_EQUAL(cancelled.got, 1);
    }
    rw_check_free(&lock);
}

static void of_type(int type)
{
    for (int i = 0; i < 2; i++) {
        cancel_while_waiting(RW_WRITE, RW_READ, type);
        cancel_while_waiting(RW_WRITE, RW_WRITE, type);
        cancel_while_waiting(RW_READ, RW_WRITE, type);
    }
}

static void asynchronous(void)
{
    if (!rw_replaced())
        check_skip("glibc's lock goes on counting a thread that was cancelled");
    of_type(PTHREAD_CANCEL_ASYNCHRONOUS);
}

static void deferred(void)
{
    of_type(PTHREAD_CANCEL_DEFERRED);
}

static int handled;

static void handler(int number)
{
    (void)number;
    check_add(&handled, 1);
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = handler};
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    struct rw_attempt reader = {.lock = &lock, .call = RW_READ};
    struct rw_attempt writer = {.lock = &lock, .call = RW_WRITE};
    pthread_t reads = rw_start_waiting(&reader), writes = rw_start_waiting(&writer);
    for (int i = 1; i <= 20; i++) {
        CHECK_OK(pthread_kill(reads, SIGUSR1));
        CHECK_OK(pthread_kill(writes, SIGUSR1));
        check_sleep_us(200);
        CHECK_EQUAL(check_get(&reader.done) + check_get(&writer.done), 0);
    }
    CHECK_UNTIL(check_get(&handled) > 1);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    check_join(reads);
    check_join(writes);
    CHECK_OK(reader.result);
    CHECK_OK(writer.result);
    rw_check_free(&lock);
}

CHECK_MAIN(CASE(asynchronous), CASE(deferred), CASE(signals))
