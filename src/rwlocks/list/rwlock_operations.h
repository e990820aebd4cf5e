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
#include "rwlocks/read_holds.h"
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

/* Every read lock is in the thread's record. */
static inline int rwlock_record_reader(struct rwlock *lock)
{
    read_holds_put(lock, HOLD_COUNTED);
    return 0;
}

/* What a thread that holds the lock gets at once. Returns -1 if it may wait. */
static inline int read_result_of_holder(struct rwlock *lock)
{
    if (rwlock_written_by_caller(lock))
        return EDEADLK;
    return read_holds_nest(lock) ? 0 : -1;
}

static inline int write_result_of_holder(struct rwlock *lock)
{
    return rwlock_written_by_caller(lock) || read_holds_have(lock) ? EDEADLK : -1;
}

/* `timed`: glibc lets a reader that wants to write wait until its deadline. */
static inline int write_result_of_timed_holder(struct rwlock *lock)
{
    return rwlock_written_by_caller(lock) ? EDEADLK : -1;
}

#define DEFINE_RWLOCK_SIDE(name, side, prefix, acquired, holder, timed_holder, ...)    \
    static void name##_##side##_undo(void *lock)                                       \
    {                                                                                  \
        name##_##side##_unlock_entry(lock);                                            \
    }                                                                                  \
    static int name##_##side##_timedlock_entry(struct rwlock *lock,                    \
                                               const struct deadline *at)              \
    {                                                                                  \
        rwlock_repair_in_child(lock, prefix##_forget);                                 \
        if (prefix##_##side##_trylock(lock __VA_ARGS__))                               \
            return acquired(lock);                                                     \
        int result = timed_holder(lock);                                               \
        if (result >= 0)                                                               \
            return result;                                                             \
        if (deadline_passed(at))                                                       \
            return ETIMEDOUT;                                                          \
        int token = wait_begin();                                                      \
        rwlock_repair_if_due(lock, prefix##_forget);                                   \
        bool came = prefix##_##side##_wait(lock __VA_ARGS__, at);                      \
        if (came)                                                                      \
            acquired(lock);                                                            \
        wait_end(token, came ? name##_##side##_undo : NULL, lock);                     \
        return came ? 0 : ETIMEDOUT;                                                   \
    }                                                                                  \
    static __attribute__((noinline)) int name##_##side##_lock_slowly(                  \
        struct rwlock *lock)                                                           \
    {                                                                                  \
        int result = holder(lock);                                                     \
        if (result >= 0)                                                               \
            return result;                                                             \
        int token = wait_begin();                                                      \
        if (unlikely(wait_is_asynchronous(token))) {                                   \
            wait_end(token, NULL, NULL);                                               \
            return rwlock_in_slices(lock, name##_##side##_timedlock_entry, NULL);      \
        }                                                                              \
        rwlock_repair_if_due(lock, prefix##_forget);                                   \
        (void)prefix##_##side##_wait(lock __VA_ARGS__, NULL);                          \
        return acquired(lock);                                                         \
    }

#define DEFINE_RWLOCK_RELEASES(name, prefix, ...)                                      \
    static FAST int name##_read_unlock_entry(struct rwlock *lock)                      \
    {                                                                                  \
        rwlock_repair_in_child(lock, prefix##_forget);                                 \
        if (unlikely(!read_holds_drop_first(read_holds_mine(), lock, HOLD_COUNTED)) && \
            read_holds_release(lock) == HOLD_NESTED)                                   \
            return 0;                                                                  \
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
        prefix##_destroy(lock __VA_ARGS__);                                            \
        return 0;                                                                      \
    }                                                                                  \
    static enum rwlock_use name##_use_entry(const struct rwlock *lock)                 \
    {                                                                                  \
        return prefix##_use(lock __VA_ARGS__);                                         \
    }

/* The record's entry is filled after the lock was acquired: only its own thread reads
 * it before. */
#define DEFINE_RWLOCK_OPERATIONS(name, prefix, ...)                                    \
    DEFINE_RWLOCK_RELEASES(name, prefix, __VA_ARGS__)                                  \
    DEFINE_RWLOCK_SIDE(name, read, prefix, rwlock_record_reader,                       \
                       read_result_of_holder, read_result_of_holder, __VA_ARGS__)      \
    DEFINE_RWLOCK_SIDE(name, write, prefix, rwlock_show_writer,                        \
                       write_result_of_holder, write_result_of_timed_holder,           \
                       __VA_ARGS__)                                                    \
    static FAST int name##_read_lock_entry(struct rwlock *lock)                        \
    {                                                                                  \
        struct atomic_u64 *entry = read_holds_empty(read_holds_mine(), lock);          \
        if (unlikely(!entry) || unlikely(!prefix##_read_fast(lock __VA_ARGS__)))       \
            return name##_read_lock_slowly(lock);                                      \
        store_relaxed(entry, read_hold_of(lock, HOLD_COUNTED));                        \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_write_lock_entry(struct rwlock *lock)                       \
    {                                                                                  \
        if (likely(prefix##_write_fast(lock __VA_ARGS__)))                             \
            return rwlock_show_writer(lock);                                           \
        return name##_write_lock_slowly(lock);                                         \
    }                                                                                  \
    static int name##_read_trylock_entry(struct rwlock *lock)                          \
    {                                                                                  \
        rwlock_repair_in_child(lock, prefix##_forget);                                 \
        if (likely(prefix##_read_trylock(lock __VA_ARGS__)))                           \
            return rwlock_record_reader(lock);                                         \
        return read_holds_nest(lock) ? 0 : EBUSY;                                      \
    }                                                                                  \
    static FAST int name##_write_trylock_entry(struct rwlock *lock)                    \
    {                                                                                  \
        rwlock_repair_in_child(lock, prefix##_forget);                                 \
        return prefix##_write_trylock(lock __VA_ARGS__) ? rwlock_show_writer(lock)     \
                                                        : EBUSY;                       \
    }

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
