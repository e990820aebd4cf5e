/* SPDX-License-Identifier: MIT */
/* pthread_rwlock_*: passes on what stays glibc's, and adds the checks of arguments. */
#include "preload/borrowing/borrowing.h"
#include "preload/real.h"
#include "preload/rwlock_dispatch.h"

#include "rwlocks/slices.h"

#include <errno.h>

static inline bool shared(const pthread_rwlock_t *lock)
{
    return unlikely(((const struct rwlock *)lock)->shared != 0);
}

EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock,
                               const pthread_rwlockattr_t *attributes)
{
    int between = PTHREAD_PROCESS_PRIVATE, kind = PTHREAD_RWLOCK_DEFAULT_NP;
    if (attributes) {
        pthread_rwlockattr_getpshared(attributes, &between);
        pthread_rwlockattr_getkind_np(attributes, &kind);
    }
    struct rwlock *ours = rwlock_of(lock);
    *ours = (struct rwlock){.shared = between, .kind = (uint32_t)kind};
    if (!rwlock_passed_through(ours, __builtin_return_address(0)))
        return 0;
    uint8_t slot = load_relaxed(&ours->algorithm);
    int result = real_pthread_rwlock_init()(lock, attributes);
    if (slot)
        store_relaxed(&ours->algorithm, slot); /* in glibc's padding */
    return result;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    if (shared(lock))
        return real_pthread_rwlock_destroy()(lock);
    return rwlock_operations_of(rwlock_of(lock))->destroy(rwlock_of(lock));
}

#define UNTIMED(function, operation)                                                   \
    EXPORT int function(pthread_rwlock_t *lock)                                        \
    {                                                                                  \
        before_kernel();                                                               \
        if (shared(lock))                                                              \
            return real_##function()(lock);                                            \
        return rwlock_operations_of(rwlock_of(lock))->operation(rwlock_of(lock));      \
    }
UNTIMED(pthread_rwlock_rdlock, read_lock)
UNTIMED(pthread_rwlock_wrlock, write_lock)
UNTIMED(pthread_rwlock_tryrdlock, read_trylock)
UNTIMED(pthread_rwlock_trywrlock, write_trylock)
UNTIMED(pthread_rwlock_unlock, unlock)

typedef int timed_operation(struct rwlock *, const struct deadline *);

/* Glibc checks the arguments first, even if the lock is free. */
static int with_deadline(struct rwlock *lock, clockid_t clock,
                         const struct timespec *at, timed_operation *timedlock)
{
    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || at->tv_nsec < 0 ||
        at->tv_nsec >= 1000000000)
        return EINVAL;
    const struct deadline deadline = {clock, *at};
    int token = wait_begin();
    wait_end(token, NULL, NULL);
    return unlikely(wait_is_asynchronous(token))
               ? rwlock_in_slices(lock, timedlock, &deadline)
               : timedlock(lock, &deadline);
}

/* Returns the operation, or NULL if the lock is glibc's. */
#define TIMED_OPERATION(lock, operation)                                               \
    (unlikely(rwlock_passed_through(lock, __builtin_return_address(0)))                \
         ? NULL                                                                        \
         : rwlock_operations_of(lock)->operation)

#define TIMED(side, operation)                                                         \
    EXPORT int pthread_rwlock_timed##side(pthread_rwlock_t *lock,                      \
                                          const struct timespec *at)                   \
    {                                                                                  \
        before_kernel();                                                               \
        struct rwlock *ours = rwlock_of(lock);                                         \
        timed_operation *timedlock = TIMED_OPERATION(ours, operation);                 \
        return timedlock ? with_deadline(ours, CLOCK_REALTIME, at, timedlock)          \
                         : real_pthread_rwlock_timed##side()(lock, at);                \
    }                                                                                  \
    EXPORT int pthread_rwlock_clock##side(pthread_rwlock_t *lock, clockid_t clock,     \
                                          const struct timespec *at)                   \
    {                                                                                  \
        before_kernel();                                                               \
        struct rwlock *ours = rwlock_of(lock);                                         \
        timed_operation *timedlock = TIMED_OPERATION(ours, operation);                 \
        return timedlock ? with_deadline(ours, clock, at, timedlock)                   \
                         : real_pthread_rwlock_clock##side()(lock, clock, at);         \
    }
TIMED(rdlock, read_timedlock)
TIMED(wrlock, write_timedlock)

/* For the recorder: the state of the lock in the form of glibc's word. A reader only
 * needs to know whether a writer holds it. */
EXPORT unsigned hasp_rwlock_state(const pthread_rwlock_t *lock, int for_reader);
EXPORT unsigned hasp_rwlock_state(const pthread_rwlock_t *lock, int for_reader)
{
    enum { WRITTEN = 3, READ = 8 };
    const struct rwlock *ours = (const struct rwlock *)lock;
    enum rwlock_use (*use)(const struct rwlock *) = rwlock_operations_of(ours)->use;
    if (shared(lock) || !use)
        return __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);
    if (load_relaxed(&ours->writer))
        return WRITTEN;
    return for_reader || use(ours) == RWLOCK_FREE ? 0 : READ;
}

/* Old names that programs may still be linked with; glibc keeps them at 2.2.5. */
#define ALIAS(target)                                                                  \
    __attribute__((alias(#target), visibility("default"), nothrow, nonnull(1)))
__typeof__(pthread_rwlock_init) __pthread_rwlock_init ALIAS(pthread_rwlock_init)
    __attribute__((leaf));
__typeof__(pthread_rwlock_destroy) __pthread_rwlock_destroy
    ALIAS(pthread_rwlock_destroy) __attribute__((leaf));
__typeof__(pthread_rwlock_rdlock) __pthread_rwlock_rdlock ALIAS(pthread_rwlock_rdlock);
__typeof__(pthread_rwlock_wrlock) __pthread_rwlock_wrlock ALIAS(pthread_rwlock_wrlock);
__typeof__(pthread_rwlock_tryrdlock) __pthread_rwlock_tryrdlock
    ALIAS(pthread_rwlock_tryrdlock);
__typeof__(pthread_rwlock_trywrlock) __pthread_rwlock_trywrlock
    ALIAS(pthread_rwlock_trywrlock);
__typeof__(pthread_rwlock_unlock) __pthread_rwlock_unlock ALIAS(pthread_rwlock_unlock);
