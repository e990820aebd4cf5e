/* SPDX-License-Identifier: MIT */
/* pthread_mutex_*: adds glibc's mutex kinds and error codes to the lock operations. */
#include "preload/mutex.h"

#include "preload/borrowing/borrowing.h"
#include "preload/dispatch.h"
#include "preload/plan.h"
#include "preload/real.h"

#include "locks/waiting/slices.h"

#include <errno.h>
#include <limits.h>

/* Locks a recursive mutex that the caller already holds. */
static int enter_again(struct lock *lock)
{
    if (lock->count == UINT_MAX)
        return EAGAIN;
    lock->count++;
    return 0;
}

/* Handles mutexes that the caller already holds. Returns the result of the operation,
 * or -1 to go on and acquire the lock. */
static int before_locking(struct lock *lock, int on_deadlock)
{
    int type = lock->kind & KIND_TYPE;
    if (type == KIND_NORMAL || type == KIND_ADAPTIVE || !mutex_held_by_caller(lock))
        return -1;
    return type == KIND_RECURSIVE ? enter_again(lock) : on_deadlock;
}

static void after_locking(struct lock *lock)
{
    if ((lock->kind & KIND_TYPE) == KIND_RECURSIVE)
        lock->count = 1;
}

static __attribute__((noinline)) int lock_otherwise(struct lock *lock)
{
    if (passed_through(lock))
        return real_pthread_mutex_lock()(mutex_of(lock));
    int result = before_locking(lock, EDEADLK);
    if (result >= 0)
        return result;
    operations_of(lock)->lock(lock);
    after_locking(lock);
    return 0;
}

/* Without a stack frame in the usual case: a free mutex that is not recursive. */
static __attribute__((noinline)) int lock_by_kind(struct lock *lock)
{
    if (unlikely(!surely_ours(lock)) || unlikely(load_relaxed(&lock->word) != 0) ||
        (lock->kind & KIND_TYPE) == KIND_RECURSIVE)
        return lock_otherwise(lock);
    return operations_of(lock)->lock(lock);
}

/* Returns true if the caller holds the lock, and no lock by a node. Needs no stack
 * frame. */
static inline bool surely_held_by_caller(const struct lock *lock)
{
    uint32_t thread = current_thread_if_known();
    return likely(thread != 0) && likely(load_acquire(&lock->word) != 0) &&
           likely(load_relaxed(&lock->owner) == thread);
}

static __attribute__((noinline)) int unlock_otherwise(struct lock *lock)
{
    if (passed_through(lock))
        return real_pthread_mutex_unlock()(mutex_of(lock));
    int type = lock->kind & KIND_TYPE;
    if (type == KIND_RECURSIVE || type == KIND_ERRORCHECK) {
        if (!mutex_held_by_caller(lock))
            return EPERM;
        if (type == KIND_RECURSIVE && --lock->count != 0)
            return 0;
    }
    return operations_of(lock)->unlock(lock);
}

/* The same without a stack frame for what the caller surely holds. */
static __attribute__((noinline)) int unlock_by_kind(struct lock *lock)
{
    if (unlikely(!surely_ours(lock)) || unlikely(!surely_held_by_caller(lock)))
        return unlock_otherwise(lock);
    if ((lock->kind & KIND_TYPE) == KIND_RECURSIVE && --lock->count != 0)
        return 0;
    return operations_of(lock)->unlock(lock);
}

static __attribute__((noinline)) int trylock_otherwise(struct lock *lock)
{
    if (passed_through(lock))
        return real_pthread_mutex_trylock()(mutex_of(lock));
    int result = before_locking(lock, EBUSY);
    if (result >= 0)
        return result;
    if (!operations_of(lock)->trylock(lock))
        return EBUSY;
    after_locking(lock);
    return 0;
}

/* Waits for the lock until the deadline; waiting/slices.h explains the slices. */
static bool wait_until(struct lock *lock, const struct deadline *deadline)
{
    bool (*timedlock)(struct lock *, const struct deadline *) =
        operations_of(lock)->timedlock;
    int token = wait_begin();
    wait_end(token, NULL, NULL);
    return unlikely(wait_is_asynchronous(token))
               ? lock_in_slices(lock, timedlock, deadline)
               : timedlock(lock, deadline);
}

static int lock_until(struct lock *lock, clockid_t clock, const struct timespec *at)
{
    before_kernel();
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (passed_through(lock))
        return real_pthread_mutex_clocklock()(mutex_of(lock), clock, at);
    int result = before_locking(lock, EDEADLK);
    if (result >= 0)
        return result;
    if (!operations_of(lock)->trylock(lock)) { /* only a wait checks the deadline */
        if (at->tv_nsec < 0 || at->tv_nsec >= 1000000000)
            return EINVAL;
        const struct deadline deadline = {clock, *at};
        if (!wait_until(lock, &deadline))
            return ETIMEDOUT;
    }
    after_locking(lock);
    return 0;
}

int mutex_check_before_wait(struct lock *lock)
{
    bool checked = !passed_through(lock) && (lock->kind & KIND_TYPE) == KIND_ERRORCHECK;
    return checked && !mutex_held_by_caller(lock) ? EPERM : 0;
}

static __attribute__((noinline)) int
init_with(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes, void *caller)
{
    int type = KIND_NORMAL;
    if (attributes) {
        int shared, robust, protocol;
        pthread_mutexattr_gettype(attributes, &type);
        pthread_mutexattr_getpshared(attributes, &shared);
        pthread_mutexattr_getrobust(attributes, &robust);
        pthread_mutexattr_getprotocol(attributes, &protocol);
        if (shared != PTHREAD_PROCESS_PRIVATE || robust != PTHREAD_MUTEX_STALLED ||
            protocol != PTHREAD_PRIO_NONE)
            return real_pthread_mutex_init()(mutex, attributes);
    }
    struct lock *lock = lock_of(mutex);
    *lock = (struct lock){.kind = type};
    if (plan_active)
        plan_resolve(lock, caller);
    return 0;
}

EXPORT int pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attributes)
{
    if (unlikely(attributes != NULL) || unlikely(plan_active))
        return init_with(mutex, attributes, __builtin_return_address(0));
    *lock_of(mutex) = (struct lock){.kind = KIND_NORMAL};
    return 0;
}

static __attribute__((noinline)) int destroy_by_kind(struct lock *lock)
{
    if (passed_through(lock))
        return real_pthread_mutex_destroy()(mutex_of(lock));
    if (load_relaxed(&lock->word) || lock->users)
        return EBUSY;
    operations_of(lock)->destroy(lock);
    lock->kind = -1; /* as in glibc: a later use returns EINVAL */
    return 0;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    uint32_t busy = load_relaxed(&lock->word) | lock->users;
    void (*destroy)(struct lock *) = operations_of(lock)->destroy;
    /* NULL: the mutex is glibc's, or its algorithm is not resolved yet. */
    if (unlikely((lock->kind & ~KIND_OURS) | busy) || unlikely(!destroy))
        return destroy_by_kind(lock);
    lock->kind = -1;
    if (has_to_destroy(lock, destroy))
        destroy(lock);
    return 0;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    before_kernel();
    if (likely(lock->kind == KIND_NORMAL))
        return operations_of(lock)->lock(lock);
    return lock_by_kind(lock);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    before_unlock(lock);
    if (likely(lock->kind == KIND_NORMAL) ||
        (lock->kind == KIND_ERRORCHECK && surely_held_by_caller(lock)))
        return operations_of(lock)->unlock(lock);
    return unlock_by_kind(lock);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    before_kernel();
    /* To its holder, too, an error-checking mutex is busy. */
    if (unlikely(lock->kind & ~KIND_TRIED_AT_ONCE))
        return trylock_otherwise(lock);
    return operations_of(lock)->trylock(lock) ? 0 : EBUSY;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *at)
{
    return lock_until(lock_of(mutex), CLOCK_REALTIME, at);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                   const struct timespec *at)
{
    return lock_until(lock_of(mutex), clock, at);
}

OWN_NAME(pthread_mutex_init) __attribute__((leaf));
OWN_NAME(pthread_mutex_destroy) __attribute__((leaf));
OWN_NAME(pthread_mutex_lock);
OWN_NAME(pthread_mutex_trylock);
OWN_NAME(pthread_mutex_unlock);

/* Old names that programs may still be linked with; glibc keeps them at 2.2.5. */
#define ALIAS(target)                                                                  \
    __attribute__((alias(#target), visibility("default"), nothrow, nonnull(1)))
__typeof__(pthread_mutex_init) __pthread_mutex_init ALIAS(pthread_mutex_init)
    __attribute__((leaf));
__typeof__(pthread_mutex_destroy) __pthread_mutex_destroy ALIAS(pthread_mutex_destroy)
    __attribute__((leaf));
__typeof__(pthread_mutex_lock) __pthread_mutex_lock ALIAS(pthread_mutex_lock);
__typeof__(pthread_mutex_trylock) __pthread_mutex_trylock ALIAS(pthread_mutex_trylock);
__typeof__(pthread_mutex_unlock) __pthread_mutex_unlock ALIAS(pthread_mutex_unlock);
