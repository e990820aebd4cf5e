/* SPDX-License-Identifier: MIT */
#include "library/condition.h"

#include "condition/cancellable.h"
#include "condition/wait.h"
#include "library/operations.h"
#include "locks/waiting/held_nodes.h"

#include <errno.h>
#include <pthread.h>

unsigned condition_flags_offset; /* 0: a wait_queue consists of the flags */

/* wait_queue_wait() has recorded the slot in the lock. */
static const struct lock_operations *held_operations(struct lock *lock)
{
    if (load_acquire(&lock->word) == 0)
        return NULL;
    uint32_t owner = load_relaxed(&lock->owner);
    bool held =
        owner == current_thread() || (owner == OWNER_IN_NODE && held_nodes_have(lock));
    return held ? mutex_operations(load_relaxed(&lock->algorithm)) : NULL;
}

static void wake(const void *condition, bool all)
{
    condition_wake(condition, all, held_operations);
}

static void take_again(struct condition_wait *wait)
{
    struct lock *lock = wait->lock;
    condition_reacquire(wait, mutex_operations(load_relaxed(&lock->algorithm)));
    lock->users--;
}

static void cancelled_asleep(void *argument)
{
    struct condition_wait *wait = (struct condition_wait *)argument;
    wait->withdrawn = condition_withdraw(wait->condition, wait->waiter);
    take_again(wait);
    condition_pass_on(wait, wake);
}

/* The only cancellation point. */
static void sleep_in(struct condition_wait *wait, const struct deadline *deadline)
{
    pthread_cleanup_push(cancelled_asleep, wait);
    if (!condition_sleep(wait, deadline, park_cancellably))
        pthread_testcancel();
    pthread_cleanup_pop(0);
}

int wait_queue_wait(struct wait_queue *queue, struct lock *lock, uint32_t slot,
                    clockid_t clock, const struct timespec *at)
{
    struct deadline deadline = {clock, {0, 0}};
    if (at) {
        bool monotonic = load_relaxed(&queue->flags) & CONDITION_MONOTONIC;
        if (clock == (clockid_t)-1)
            deadline.clock = monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
        deadline.at = *at;
        if (at->tv_nsec < 0 || at->tv_nsec >= 1000000000 ||
            (deadline.clock != CLOCK_REALTIME && deadline.clock != CLOCK_MONOTONIC))
            return EINVAL;
    }
    if (load_relaxed(&lock->algorithm) != slot)
        store_relaxed(&lock->algorithm, (uint8_t)slot);
    int token = wait_begin();
    struct condition_wait wait = condition_begin(queue, lock);
    lock->users++;
    mutex_operations(slot)->unlock(lock);
    sleep_in(&wait, at ? &deadline : NULL);
    take_again(&wait);
    wait_end(token, NULL, NULL);
    return wait.withdrawn ? ETIMEDOUT : 0;
}

int wait_queue_wake(struct wait_queue *queue, bool all)
{
    if (condition_has_waiter(queue))
        wake(queue, all);
    return 0;
}

int wait_queue_set_clock(struct wait_queue *queue, clockid_t clock)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    store_relaxed(&queue->flags, clock == CLOCK_MONOTONIC ? CONDITION_MONOTONIC : 0);
    return 0;
}
