/* SPDX-License-Identifier: MIT */
/* pthread_cond_*: Hasp's own, over the queues of condition_queue.h. */
#include "preload/condition_queue.h"
#include "preload/dispatch.h"
#include "preload/mutex.h"
#include "preload/real.h"

#include "locks/waiting/policies.h"

#include <errno.h>
#include <limits.h>

/* How long a wait on a process-shared condvar with a mutex of ours sleeps at most; see
 * below. */
enum { SHARED_SLICE_NS = 5000000 };

/* One wait. */
struct wait {
    const void *condition;
    struct lock *lock;
    struct waiter *waiter;
    bool counted;   /* among the mutex's users, which keeps it from being destroyed */
    bool withdrawn; /* the deadline passed, or a cancellation came, before any signal */
};

static uint32_t waiting_cell(const struct waiter *waiter)
{
    return WAITER_IN_CONDITION | waiter->epoch;
}

/* Ends the sleep of a waiter that has been taken out of its queue. If the caller holds
 * the mutex, the waiter need not wake up before it is its turn: it goes to the lock's
 * own queue. */
static void hand_over(struct waiter *waiter)
{
    struct lock *lock = waiter->lock;
    if (!passed_through(lock) && mutex_held_by_caller(lock) &&
        operations_of(lock)->adopt) {
        operations_of(lock)->adopt(lock, waiter);
        return;
    }
    if (end_condition_stay(waiter, WAITER_WOKEN))
        unpark(&waiter->cell, 1);
}

static void wake(const void *condition, bool all)
{
    struct waiter *waiter = condition_take(condition, all), *next;
    for (; waiter; waiter = next) {
        next = waiter->condition_next; /* before it may be used for something else */
        hand_over(waiter);
    }
}

/* Takes the mutex again, whatever way the wait ended. */
static int take_again(struct wait *wait)
{
    struct lock *lock = wait->lock;
    struct waiter *waiter = wait->waiter;
    uint32_t state = WAITER_WOKEN;
    int result = 0;
    if (!passed_through(lock) && (lock->kind & KIND_TYPE) == KIND_RECURSIVE &&
        mutex_held_by_caller(lock)) {
        /* It was held twice, and the wait only took one level off, as glibc's does. */
        waiter_give(waiter);
        lock->users--;
        lock->count++;
        return 0;
    }
    if (!wait->withdrawn) {
        spin_until((state = load_acquire(&waiter->cell)) != waiting_cell(waiter));
        state &= 0xff;
    }
    if (state != WAITER_WOKEN && state != WAITER_REQUEUED) {
        wait_for_grant(&waiter->cell, &waiter->asleep, SPIN_THEN_PARK, false, NULL);
        operations_of(lock)->adopted(lock, waiter);
    } else {
        waiter_give(waiter);
        if (passed_through(lock))
            result = real_pthread_mutex_lock()(mutex_of(lock));
        else if (state == WAITER_REQUEUED)
            operations_of(lock)->relock(lock);
        else
            operations_of(lock)->lock(lock);
    }
    if (wait->counted)
        lock->users--;
    if (!passed_through(lock) && (lock->kind & KIND_TYPE) == KIND_RECURSIVE)
        lock->count = 1;
    return result;
}

/* Counts the caller among the mutex's users, as glibc's waits do, where glibc's unlock
 * will not find that it may not. */
static bool count_in(struct lock *lock)
{
    if (passed_through(lock) &&
        (lock->kind & ~KIND_OURS || !mutex_held_by_caller(lock)))
        return false;
    lock->users++;
    return true;
}

/* Ends a wait that could not begin: the mutex stays as it is. */
static void call_off(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    bool signalled = !condition_withdraw(wait->condition, waiter);
    if (signalled)
        spin_until(load_acquire(&waiter->cell) != waiting_cell(waiter));
    waiter_give(waiter);
    if (signalled)
        wake(wait->condition, false);
}

/* The thread was cancelled while it slept. */
static void cancelled(void *argument)
{
    struct wait *wait = argument;
    wait->withdrawn = condition_withdraw(wait->condition, wait->waiter);
    take_again(wait);
    if (!wait->withdrawn) /* it consumed a signal that somebody else may need */
        wake(wait->condition, false);
}

/* Spins for a signal, for as long as that has been worth it: a success doubles the next
 * attempt, up to the cost of parking, a failure halves it. True: signalled. */
static bool spin_in_condition(struct waiter *waiter, uint32_t cell)
{
    const uint32_t most = spin_limit(), least = most / 16;
    uint32_t turns = waiter->condition_spins;
    if (turns < least)
        turns = least;
    for (uint32_t turn = 0; turn < turns; turn++) {
        if (load_acquire(&waiter->cell) != cell) {
            waiter->condition_spins = 2 * turns < most ? 2 * turns : most;
            return true;
        }
        relax();
    }
    waiter->condition_spins = turns / 2;
    return false;
}

/* Sleeps until signalled or the deadline has passed. A cancellation point; the caller's
 * cancellation type is deferred. */
static void sleep_in_condition(struct wait *wait, const struct deadline *deadline)
{
    struct waiter *waiter = wait->waiter;
    const uint32_t cell = waiting_cell(waiter);
    pthread_cleanup_push(cancelled, wait);
    if (spin_in_condition(waiter, cell)) {
        pthread_testcancel();
    } else {
        store_relaxed(&waiter->asleep, 1);
        do {
            int type;
            pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
            bool in_time = park(&waiter->cell, cell, deadline);
            pthread_setcanceltype(type, &type);
            if (!in_time) {
                wait->withdrawn = condition_withdraw(wait->condition, waiter);
                break;
            }
        } while (load_acquire(&waiter->cell) == cell);
    }
    pthread_cleanup_pop(0);
}

static void add_nanoseconds(struct timespec *at, long ns)
{
    at->tv_nsec += ns;
    if (at->tv_nsec >= 1000000000) {
        at->tv_nsec -= 1000000000;
        at->tv_sec++;
    }
}

static bool earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void lock_again(void *mutex)
{
    pthread_mutex_lock(mutex);
}

/* One wait of glibc's own with a mutex of ours. */
static int wait_slice(pthread_cond_t *condition, pthread_mutex_t *mutex,
                      clockid_t clock, const struct timespec *until)
{
    pthread_mutex_t scratch = PTHREAD_MUTEX_INITIALIZER;
    int result;
    real_pthread_mutex_lock()(&scratch);
    pthread_mutex_unlock(mutex);
    pthread_cleanup_push(lock_again, mutex);
    result = real_pthread_cond_clockwait()(condition, &scratch, clock, until);
    real_pthread_mutex_unlock()(&scratch);
    pthread_cleanup_pop(1);
    return result;
}

/*
 * A process-shared condvar belongs to glibc, whose wait needs a mutex of glibc's. With
 * a mutex of ours it waits with a scratch mutex, for a slice at a time: a signal
 * between our unlock and its wait is lost, but the slice ends in a spurious wake-up,
 * which is legal.
 */
static int wait_shared(pthread_cond_t *condition, struct lock *lock,
                       const struct deadline *deadline)
{
    const clockid_t clock = deadline ? deadline->clock : CLOCK_MONOTONIC;
    struct timespec until;
    clock_gettime(clock, &until);
    add_nanoseconds(&until, SHARED_SLICE_NS);
    bool last = deadline && !earlier(&until, &deadline->at);
    if (last)
        until = deadline->at;
    int result = wait_slice(condition, mutex_of(lock), clock, &until);
    return result == ETIMEDOUT && !last ? 0 : result;
}

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *mutex,
                   const struct deadline *deadline)
{
    struct lock *lock = lock_of(mutex);
    int error = mutex_check_before_wait(lock);
    if (error)
        return error;
    if (unlikely(load_relaxed(condition_flags(condition)) & CONDITION_SHARED)) {
        if (!passed_through(lock))
            return wait_shared(condition, lock, deadline);
        return deadline ? real_pthread_cond_clockwait()(condition, mutex,
                                                        deadline->clock, &deadline->at)
                        : real_pthread_cond_wait()(condition, mutex);
    }
    int token = wait_begin();
    struct wait wait = {condition, lock, waiter_take(), false, false};
    wait.waiter->lock = lock;
    wait.waiter->epoch += 1u << 8;
    store_relaxed(&wait.waiter->cell, waiting_cell(wait.waiter));
    condition_enqueue(condition, wait.waiter);
    wait.counted = count_in(lock);
    error = pthread_mutex_unlock(mutex);
    if (unlikely(error)) { /* glibc's mutex, and not the caller's */
        call_off(&wait);
    } else {
        sleep_in_condition(&wait, deadline);
        error = take_again(&wait);
    }
    wait_end(token, NULL, NULL);
    return error ? error : wait.withdrawn ? ETIMEDOUT : 0;
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex,
                      clockid_t clock, const struct timespec *at)
{
    if (at->tv_nsec < 0 || at->tv_nsec >= 1000000000)
        return EINVAL;
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    const struct deadline deadline = {clock, *at};
    return wait_on(condition, mutex, &deadline);
}

EXPORT int pthread_cond_init(pthread_cond_t *condition,
                             const pthread_condattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    clockid_t clock = CLOCK_REALTIME;
    if (attributes) {
        pthread_condattr_getpshared(attributes, &shared);
        pthread_condattr_getclock(attributes, &clock);
        if (shared != PTHREAD_PROCESS_PRIVATE)
            return real_pthread_cond_init()(condition, attributes);
    }
    *condition = (pthread_cond_t){0};
    if (clock == CLOCK_MONOTONIC)
        store_relaxed(condition_flags(condition), CONDITION_MONOTONIC);
    return 0;
}

static bool is_shared(pthread_cond_t *condition)
{
    return load_relaxed(condition_flags(condition)) & CONDITION_SHARED;
}

/* Does not wait for the last waiters, as glibc's does: nothing of the condvar is
 * theirs. */
EXPORT int pthread_cond_destroy(pthread_cond_t *condition)
{
    return is_shared(condition) ? real_pthread_cond_destroy()(condition) : 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    if (likely(load_relaxed(condition_flags(condition)) < CONDITION_WAITER))
        if (likely(!is_shared(condition)))
            return 0;
    if (is_shared(condition))
        return real_pthread_cond_signal()(condition);
    wake(condition, false);
    return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (likely(load_relaxed(condition_flags(condition)) < CONDITION_WAITER))
        if (likely(!is_shared(condition)))
            return 0;
    if (is_shared(condition))
        return real_pthread_cond_broadcast()(condition);
    wake(condition, true);
    return 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return wait_on(condition, mutex, NULL);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *at)
{
    bool monotonic = load_relaxed(condition_flags(condition)) & CONDITION_MONOTONIC;
    return wait_until(condition, mutex, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                      at);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *at)
{
    return wait_until(condition, mutex, clock, at);
}

OWN_NAME(pthread_cond_init) __attribute__((leaf));
OWN_NAME(pthread_cond_destroy) __attribute__((leaf));
OWN_NAME(pthread_cond_signal);
OWN_NAME(pthread_cond_broadcast);
OWN_NAME(pthread_cond_wait);
OWN_NAME(pthread_cond_timedwait);
