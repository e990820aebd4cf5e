/* SPDX-License-Identifier: MIT */
/*
 * Builds the complete operations of descriptor.h from the functions of an algorithm:
 *
 *   prefix_read_fast, prefix_write_fast        acquire if that needs no waiting; may
 *                                              fail although the lock is free
 *   prefix_read_trylock, prefix_write_trylock  fail only if the lock is not available
 *   prefix_read_wait, prefix_write_wait        wait; false once the deadline (NULL:
 *                                              none) has passed
 *   prefix_read_unlock, prefix_write_unlock
 *   prefix_forget                              fork_repair.h
 *   prefix_destroy                             frees memory outside the lock
 *   prefix_use                                 a hint for tools
 */
#ifndef HASP_RWLOCKS_LIST_RWLOCK_OPERATIONS_H
#define HASP_RWLOCKS_LIST_RWLOCK_OPERATIONS_H

#include "rwlocks/fork_repair.h"
#include "rwlocks/list/descriptor.h"
#include "rwlocks/slices.h"

#include <errno.h>

/* The last, variadic macro argument: ", x" or nothing, inserted after `lock`. */
#define WITH(argument) , argument
#define NOTHING

/* Inlines the algorithm, however long the list is. */
#define FAST __attribute__((flatten))

static inline bool rwlock_written_by_caller(const struct rwlock *lock)
{
    uint32_t writer = load_relaxed(&lock->writer);
    return writer != 0 && writer == current_thread();
}

/* The caller has acquired the lock for writing. */
static inline int rwlock_show_writer(struct rwlock *lock)
{
    store_relaxed(&lock->writer, current_thread());
    return 0;
}

static inline int rwlock_not_shown(struct rwlock *lock)
{
    (void)lock;
    return 0;
}

#define DEFINE_RWLOCK_SIDE(name, side, prefix, show, ...)                              \
    static void name##_##side##_undo(void *lock)                                       \
    {                                                                                  \
        name##_##side##_unlock_entry(lock);                                            \
    }                                                                                  \
    static int name##_##side##_timedlock_entry(struct rwlock *lock,                    \
                                               const struct deadline *at)              \
    {                                                                                  \
        if (prefix##_##side##_trylock(lock __VA_ARGS__))                               \
            return show(lock);                                                         \
        if (rwlock_written_by_caller(lock))                                            \
            return EDEADLK;                                                            \
        if (deadline_passed(at))                                                       \
            return ETIMEDOUT;                                                          \
        int token = wait_begin();                                                      \
        rwlock_repair_if_due(lock, prefix##_forget);                                   \
        bool acquired = prefix##_##side##_wait(lock __VA_ARGS__, at);                  \
        if (acquired)                                                                  \
            show(lock);                                                                \
        wait_end(token, acquired ? name##_##side##_undo : NULL, lock);                 \
        return acquired ? 0 : ETIMEDOUT;                                               \
    }                                                                                  \
    static __attribute__((noinline)) int name##_##side##_lock_slowly(                  \
        struct rwlock *lock)                                                           \
    {                                                                                  \
        if (rwlock_written_by_caller(lock))                                            \
            return EDEADLK;                                                            \
        int token = wait_begin();                                                      \
        if (unlikely(wait_is_asynchronous(token))) {                                   \
            wait_end(token, NULL, NULL);                                               \
            return rwlock_in_slices(lock, name##_##side##_timedlock_entry, NULL);      \
        }                                                                              \
        rwlock_repair_if_due(lock, prefix##_forget);                                   \
        (void)prefix##_##side##_wait(lock __VA_ARGS__, NULL);                          \
        return show(lock);                                                             \
    }                                                                                  \
    static FAST int name##_##side##_lock_entry(struct rwlock *lock)                    \
    {                                                                                  \
        if (likely(prefix##_##side##_fast(lock __VA_ARGS__)))                          \
            return show(lock);                                                         \
        return name##_##side##_lock_slowly(lock);                                      \
    }                                                                                  \
    static FAST int name##_##side##_trylock_entry(struct rwlock *lock)                 \
    {                                                                                  \
        return prefix##_##side##_trylock(lock __VA_ARGS__) ? show(lock) : EBUSY;       \
    }

#define DEFINE_RWLOCK_OPERATIONS(name, prefix, ...)                                    \
    static FAST int name##_read_unlock_entry(struct rwlock *lock)                      \
    {                                                                                  \
        rwlock_repair_in_child(lock, prefix##_forget);                                 \
        prefix##_read_unlock(lock __VA_ARGS__);                                        \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_write_unlock_entry(struct rwlock *lock)                     \
    {                                                                                  \
        rwlock_repair_in_child(lock, prefix##_forget);                                 \
        store_relaxed(&lock->writer, 0);                                               \
        prefix##_write_unlock(lock __VA_ARGS__);                                       \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_unlock_entry(struct rwlock *lock)                           \
    {                                                                                  \
        return load_relaxed(&lock->writer) ? name##_write_unlock_entry(lock)           \
                                           : name##_read_unlock_entry(lock);           \
    }                                                                                  \
    static int name##_destroy_entry(struct rwlock *lock)                               \
    {                                                                                  \
        prefix##_destroy(lock);                                                        \
        return 0;                                                                      \
    }                                                                                  \
    static enum rwlock_use name##_use_entry(const struct rwlock *lock)                 \
    {                                                                                  \
        return prefix##_use(lock);                                                     \
    }                                                                                  \
    DEFINE_RWLOCK_SIDE(name, read, prefix, rwlock_not_shown, __VA_ARGS__)              \
    DEFINE_RWLOCK_SIDE(name, write, prefix, rwlock_show_writer, __VA_ARGS__)

#define RWLOCK_OPERATIONS(name)                                                        \
    {                                                                                  \
        .read_lock = name##_read_lock_entry, .write_lock = name##_write_lock_entry,    \
        .read_timedlock = name##_read_timedlock_entry,                                 \
        .write_timedlock = name##_write_timedlock_entry,                               \
        .read_trylock = name##_read_trylock_entry,                                     \
        .write_trylock = name##_write_trylock_entry,                                   \
        .read_unlock = name##_read_unlock_entry,                                       \
        .write_unlock = name##_write_unlock_entry, .unlock = name##_unlock_entry,      \
        .destroy = name##_destroy_entry, .use = name##_use_entry                       \
    }

#endif
