/* SPDX-License-Identifier: MIT */
/*
 * Hooks of pthread_rwlock_*. Readers and writers are counted separately.
 *
 * The state word of glibc's rwlocks has been the same since 2.25: bit 0, the write
 * phase; bit 1, a writer holds it or waits; from bit 3 on, the number of readers.
 * libhasp.so returns the state of its own rwlocks in the same form, and stores the
 * writer where glibc does.
 */
#include "preload/profile/elision.h"

#include "profiler/record/misuse.h"

#include <errno.h>

enum { WRITERS_TURN = 1, WRITER = 2, FIRST_READER = 8 };

/* Not there if libhasp.so is not loaded. */
__attribute__((weak)) unsigned hasp_rwlock_state(const pthread_rwlock_t *, int);

static unsigned state_of(const pthread_rwlock_t *lock, int for_reader)
{
    return hasp_rwlock_state
               ? hasp_rwlock_state(lock, for_reader)
               : __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);
}

static bool held_by_writer(unsigned state)
{
    return (state & (WRITERS_TURN | WRITER)) == (WRITERS_TURN | WRITER);
}

/* Returns whether readers queue behind waiting writers: only one kind does that. */
static bool writers_first(const pthread_rwlock_t *lock)
{
    return lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

const struct record_as as_reader = {TRACE_RWLOCK, TRACE_READ, sizeof(pthread_rwlock_t),
                                    0};
const struct record_as as_writer = {TRACE_RWLOCK, TRACE_WRITE, sizeof(pthread_rwlock_t),
                                    0};
static const struct record_as as_gated_reader = {
    TRACE_RWLOCK, TRACE_READ, sizeof(pthread_rwlock_t), TRACE_WRITERS_FIRST};
static const struct record_as as_preferred_writer = {
    TRACE_RWLOCK, TRACE_WRITE, sizeof(pthread_rwlock_t), TRACE_WRITERS_FIRST};

static const struct record_as *reader_of(const pthread_rwlock_t *lock)
{
    return writers_first(lock) ? &as_gated_reader : &as_reader;
}

static const struct record_as *writer_of(const pthread_rwlock_t *lock)
{
    return writers_first(lock) ? &as_preferred_writer : &as_writer;
}

static bool busy_for_reader(const pthread_rwlock_t *lock)
{
    unsigned state = state_of(lock, 1);
    return held_by_writer(state) || (writers_first(lock) && state & WRITER);
}

static bool busy_for_writer(const pthread_rwlock_t *lock)
{
    unsigned state = state_of(lock, 0);
    return state & WRITER || state >= FIRST_READER;
}

static bool written_by_caller(const pthread_rwlock_t *lock)
{
    return held_by_writer(state_of(lock, 1)) &&
           (uint32_t)lock->__data.__cur_writer == current_thread();
}

/* Returns whether a hold of the caller would have been recorded. Those of readers that
 * begin in an elided section are not, and may end after it. */
static bool is_seen(const pthread_rwlock_t *lock)
{
    return !elision_watched() ||
           (!elision_is_open() && held_by_writer(state_of(lock, 1)));
}

static uint32_t flags_of(const pthread_rwlock_t *lock)
{
    return (lock->__data.__shared ? TRACE_SHARED : 0) |
           (writers_first(lock) ? TRACE_WRITERS_FIRST : 0);
}

static enum record_result outcome(int result)
{
    if (result == 0)
        return RECORD_GOT;
    return result == ETIMEDOUT ? RECORD_TIMED_OUT : RECORD_FAILED;
}

EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock,
                               const pthread_rwlockattr_t *attributes)
{
    misuse_initialising(lock, busy_for_writer(lock), RECORD_CALLER);
    int result = next.pthread_rwlock_init(lock, attributes);
    if (result == 0)
        record_created(lock, writer_of(lock), flags_of(lock), RECORD_CALLER);
    return result;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    misuse_destroying(lock, busy_for_writer(lock), RECORD_CALLER);
    int result = next.pthread_rwlock_destroy(lock);
    if (result == 0)
        record_destroyed(lock);
    return result;
}

#define ELIDED(as, end, call)                                                          \
    RECORD_ELIDED(elision_covers_rwlock(lock), lock, as, end, call, RECORD_CALLER)

#define RECORDED(as, busy, call)                                                       \
    struct record_acquisition a;                                                       \
    bool taken = (busy);                                                               \
    if (record_skips(taken) ||                                                         \
        !record_acquire_begin(&a, lock, as, taken, RECORD_CALLER))                     \
        return call;                                                                   \
    int result = call;                                                                 \
    record_acquire_end(&a, outcome(result));                                           \
    if (unlikely(result == EDEADLK))                                                   \
        misuse_relocking(lock, RECORD_CALLER);                                         \
    return result

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    const void *key = (const void *)record_key(lock, TRACE_READ);
    ELIDED(reader_of(lock), elided_end, next.pthread_rwlock_rdlock(lock));
    record_prefetch(lock);
    bool busy = busy_for_reader(lock);
    if (record_skips(busy) || record_count_lock(key, busy))
        return next.pthread_rwlock_rdlock(lock);
    RECORDED(reader_of(lock), busy_for_reader(lock), next.pthread_rwlock_rdlock(lock));
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    ELIDED(writer_of(lock), elided_end, next.pthread_rwlock_wrlock(lock));
    record_prefetch(lock);
    bool busy = busy_for_writer(lock);
    if (record_skips(busy) || record_count_lock(lock, busy))
        return next.pthread_rwlock_wrlock(lock);
    RECORDED(writer_of(lock), busy_for_writer(lock), next.pthread_rwlock_wrlock(lock));
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *at)
{
    ELIDED(reader_of(lock), elided_end, next.pthread_rwlock_timedrdlock(lock, at));
    RECORDED(reader_of(lock), busy_for_reader(lock),
             next.pthread_rwlock_timedrdlock(lock, at));
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *at)
{
    ELIDED(writer_of(lock), elided_end, next.pthread_rwlock_timedwrlock(lock, at));
    RECORDED(writer_of(lock), busy_for_writer(lock),
             next.pthread_rwlock_timedwrlock(lock, at));
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                      const struct timespec *at)
{
    ELIDED(reader_of(lock), elided_end,
           next.pthread_rwlock_clockrdlock(lock, clock, at));
    RECORDED(reader_of(lock), busy_for_reader(lock),
             next.pthread_rwlock_clockrdlock(lock, clock, at));
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                      const struct timespec *at)
{
    ELIDED(writer_of(lock), elided_end,
           next.pthread_rwlock_clockwrlock(lock, clock, at));
    RECORDED(writer_of(lock), busy_for_writer(lock),
             next.pthread_rwlock_clockwrlock(lock, clock, at));
}

#define TRIED(as, busy, call)                                                          \
    struct record_acquisition a;                                                       \
    if (record_skips(busy) || !record_trylock_begin(&a, lock, as, RECORD_CALLER))      \
        return call;                                                                   \
    int result = call;                                                                 \
    record_trylock_end(&a, result == 0);                                               \
    return result

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    ELIDED(reader_of(lock), elided_tried, next.pthread_rwlock_tryrdlock(lock));
    TRIED(reader_of(lock), busy_for_reader(lock), next.pthread_rwlock_tryrdlock(lock));
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    ELIDED(writer_of(lock), elided_tried, next.pthread_rwlock_trywrlock(lock));
    TRIED(writer_of(lock), busy_for_writer(lock), next.pthread_rwlock_trywrlock(lock));
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    struct record_release r;
    if (record_release_skips())
        return next.pthread_rwlock_unlock(lock);
    if (elision_is_open_of(lock))
        return next.pthread_rwlock_unlock(lock);
    enum trace_operation held = written_by_caller(lock) ? TRACE_WRITE : TRACE_READ;
    uintptr_t key = record_key(lock, held);
    if (record_count_unlock((const void *)key))
        return next.pthread_rwlock_unlock(lock);
    const uint32_t depth = misuse_depth();
    if (!record_release_begin(&r, key)) {
        if (misuse_depth() == depth && is_seen(lock))
            misuse_unlocking_rwlock(lock, !busy_for_writer(lock), RECORD_CALLER);
        return next.pthread_rwlock_unlock(lock);
    }
    int result = next.pthread_rwlock_unlock(lock);
    record_release_end(&r);
    return result;
}

OLD_NAME(pthread_rwlock_init) __attribute__((leaf));
OLD_NAME(pthread_rwlock_destroy) __attribute__((leaf));
OLD_NAME(pthread_rwlock_rdlock);
OLD_NAME(pthread_rwlock_wrlock);
OLD_NAME(pthread_rwlock_tryrdlock);
OLD_NAME(pthread_rwlock_trywrlock);
OLD_NAME(pthread_rwlock_unlock);
