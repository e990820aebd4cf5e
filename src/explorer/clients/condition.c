/* SPDX-License-Identifier: MIT */
#include "explorer/clients/condition.h"

#include "explorer/clients/critical_sections.h"

#include "condition/wait.h"

/* This is as large as a pthread_cond_t. */
static struct {
    struct atomic_u32 words[12];
} condition __attribute__((aligned(8)));

static uint32_t ready; /* guarded by the lock */

/* The offset in glibc up to 2.40. */
unsigned condition_flags_offset = 36;

void (*condition_client_prepares)(void);

static const struct lock_operations *held(struct lock *lock)
{
    (void)lock;
    return client_operations;
}

static const struct lock_operations *not_held(struct lock *lock)
{
    (void)lock;
    return NULL;
}

static void wake(const void *waited_on, bool all)
{
    condition_wake(waited_on, all, held);
}

static bool sleep_on(struct atomic_u32 *cell, uint32_t expected,
                     const struct deadline *deadline)
{
    return park(cell, expected, deadline);
}

/* Uses a slot of the pool in a condition variable once more, this thread's or another
 * one's: no thread may still be working on it. */
static void use_again(void)
{
    struct waiter *next = waiter_take();
    next->epoch += 1u << 8;
    next->condition_next = NULL;
    waiter_give(next);
}

/* The caller holds the lock, before and after the call. `flag` counts the waiters. */
static struct condition_wait wait_on_condition(const struct deadline *deadline)
{
    if (condition_client_prepares)
        condition_client_prepares();
    struct condition_wait wait = condition_begin(&condition, &client_lock);
    fetch_add_release(&flag, 1);
    unlock();
    begin_operation();
    condition_sleep(&wait, deadline, sleep_on);
    condition_reacquire(&wait, client_operations);
    use_again();
    return wait;
}

void condition_client_waits(void)
{
    wait_on_condition(NULL);
}

void condition_client_signals(bool holds)
{
    if (condition_has_waiter(&condition))
        condition_wake(&condition, false, holds ? held : not_held);
}

/* The bucket measures nothing here. */
static void wait_for_signal(void)
{
    lock();
    condition_patience(&condition)->patient = choose(2) & 1;
    wait_on_condition(NULL);
    section();
    unlock();
}

/* Signals while it holds the lock, or after unlocking. */
static void wake_waiters(unsigned waiters, bool all)
{
    spin_until(load_acquire(&flag) == waiters);
    lock();
    section();
    if (choose(2)) {
        wake(&condition, all);
        unlock();
    } else {
        unlock();
        begin_operation();
        condition_wake(&condition, all, not_held);
    }
}

void condition_with_signal(unsigned thread)
{
    if (thread == 0)
        wait_for_signal();
    else if (thread == 1)
        wake_waiters(1, false);
    else
        enter();
}

void condition_with_broadcast(unsigned thread)
{
    if (thread < 2)
        wait_for_signal();
    else
        wake_waiters(2, true);
}

/* One waiter may time out. A cancelled one takes the same steps: it withdraws, locks,
 * and passes on the signal if it has consumed one. Either way the other waiter wakes
 * up. */
void condition_with_leaver(unsigned thread)
{
    if (thread == 0) {
        lock();
        struct condition_wait wait = wait_on_condition(new_deadline());
        condition_pass_on(&wait, wake);
        section();
        unlock();
    } else if (thread == 1) {
        wait_for_signal();
    } else {
        wake_waiters(2, false);
    }
}

/* The usual protocol, signalled without the lock. */
void condition_with_late_signal(unsigned thread)
{
    if (thread == 0) {
        lock();
        if (!ready)
            wait_on_condition(NULL);
        section();
        unlock();
    } else if (thread == 1) {
        lock();
        ready = 1;
        unlock();
        begin_operation();
        if (condition_has_waiter(&condition))
            condition_wake(&condition, false, not_held);
    } else {
        enter();
    }
}
