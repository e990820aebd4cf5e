/* SPDX-License-Identifier: MIT */
/* Hooks of pthread_spin_*, which are glibc's or those of src/spinlocks. A program may
 * use an uninitialised word where a free spin lock is 0. */
#include "preload/profile/next.h"

#include "spinlocks/spinlock.h"

#include "profiler/record/misuse.h"

static const struct record_as as_spinlock = {TRACE_SPINLOCK, TRACE_LOCK,
                                             sizeof(pthread_spinlock_t), 0};

static bool busy(const pthread_spinlock_t *lock)
{
    return !spinlock_word_is_free((uint32_t)__atomic_load_n(lock, __ATOMIC_RELAXED));
}

EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    void *object = (void *)(uintptr_t)lock;
    misuse_initialising(object, busy(lock), RECORD_CALLER);
    int result = next.pthread_spin_init(lock, shared);
    if (result == 0)
        record_created(object, &as_spinlock,
                       shared == PTHREAD_PROCESS_SHARED ? TRACE_SHARED : 0,
                       RECORD_CALLER);
    return result;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    void *object = (void *)(uintptr_t)lock;
    misuse_destroying(object, busy(lock), RECORD_CALLER);
    int result = next.pthread_spin_destroy(lock);
    if (result == 0)
        record_destroyed(object);
    return result;
}

static __attribute__((noinline)) int lock_recorded(pthread_spinlock_t *lock, bool taken,
                                                   void *caller)
{
    struct record_acquisition a;
    if (!record_acquire_begin(&a, (void *)(uintptr_t)lock, &as_spinlock, taken, caller))
        return next.pthread_spin_lock(lock);
    int result = next.pthread_spin_lock(lock);
    record_acquire_end(&a, result == 0 ? RECORD_GOT : RECORD_FAILED);
    return result;
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
    record_prefetch((void *)(uintptr_t)lock);
    bool taken = busy(lock);
    if (record_skips(taken) || record_count_lock((void *)(uintptr_t)lock, taken))
        return next.pthread_spin_lock(lock);
    return lock_recorded(lock, taken, RECORD_CALLER);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    struct record_acquisition a;
    if (record_skips(busy(lock)) ||
        !record_trylock_begin(&a, (void *)(uintptr_t)lock, &as_spinlock, RECORD_CALLER))
        return next.pthread_spin_trylock(lock);
    int result = next.pthread_spin_trylock(lock);
    record_trylock_end(&a, result == 0);
    return result;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    struct record_release r;
    void *object = (void *)(uintptr_t)lock;
    if (record_release_skips() || record_count_unlock(object))
        return next.pthread_spin_unlock(lock);
    const uint32_t depth = misuse_depth();
    if (!record_release_begin(&r, (uintptr_t)object)) {
        if (misuse_depth() == depth)
            misuse_unlocking_spinlock(object, !busy(lock), RECORD_CALLER);
        return next.pthread_spin_unlock(lock);
    }
    int result = next.pthread_spin_unlock(lock);
    record_release_end(&r);
    return result;
}
