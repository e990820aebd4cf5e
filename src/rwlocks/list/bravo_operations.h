/* SPDX-License-Identifier: MIT */
/* Builds the operations of a lock behind bravo.h from the lock's own operations. */
#ifndef HASP_RWLOCKS_LIST_BRAVO_OPERATIONS_H
#define HASP_RWLOCKS_LIST_BRAVO_OPERATIONS_H

#include "rwlocks/algorithms/bravo.h"
#include "rwlocks/list/rwlock_operations.h"

/* The caller holds the wrapped lock for reading if `result` is 0, and perhaps only by a
 * nested hold, or one of another kind that was there before. */
static inline int bravo_read_result(struct rwlock *lock, int result)
{
    if (result == 0 && load_relaxed(&lock->bias) != BRAVO_BIASED)
        bravo_start(lock);
    return result;
}

/* The caller has acquired the wrapped lock for writing, which undo() releases, and ends
 * the bias. A thread with an entry of this lock would wait for itself for ever. */
static __attribute__((noinline, unused)) int
bravo_write_result(struct rwlock *lock, void (*undo)(void *), bool wait,
                   const struct deadline *deadline)
{
    if (wait && !deadline && read_holds_have(lock)) {
        undo(lock);
        return EDEADLK;
    }
    int token = wait_begin();
    bool gone = bravo_revoke(lock, wait, deadline);
    if (!gone)
        undo(lock);
    wait_end(token, gone ? undo : NULL, lock);
    return gone ? 0 : wait ? ETIMEDOUT : EBUSY;
}

#define DEFINE_BRAVO_READING(name, prefix, ...)                                        \
    static __attribute__((noinline)) int name##_bravo_read_lock_slowly(                \
        struct rwlock *lock)                                                           \
    {                                                                                  \
        if (!read_holds_mine()) {                                                      \
            read_holds_make();                                                         \
            if (bravo_read_fast(lock))                                                 \
                return 0;                                                              \
        }                                                                              \
        return bravo_read_result(lock, name##_read_lock_entry(lock));                  \
    }                                                                                  \
    static FAST int name##_bravo_read_lock_entry(struct rwlock *lock)                  \
    {                                                                                  \
        return likely(bravo_read_fast(lock)) ? 0                                       \
                                             : name##_bravo_read_lock_slowly(lock);    \
    }                                                                                  \
    static int name##_bravo_read_timedlock_entry(struct rwlock *lock,                  \
                                                 const struct deadline *at)            \
    {                                                                                  \
        if (bravo_read_fast(lock) || read_holds_nest(lock))                            \
            return 0;                                                                  \
        return bravo_read_result(lock, name##_read_timedlock_entry(lock, at));         \
    }                                                                                  \
    static int name##_bravo_read_trylock_entry(struct rwlock *lock)                    \
    {                                                                                  \
        if (bravo_read_fast(lock) || read_holds_nest(lock))                            \
            return 0;                                                                  \
        return bravo_read_result(lock, name##_read_trylock_entry(lock));               \
    }

#define DEFINE_BRAVO_WRITING(name, prefix, ...)                                        \
    static __attribute__((noinline)) int name##_bravo_write_lock_slowly(               \
        struct rwlock *lock)                                                           \
    {                                                                                  \
        bravo_close(lock);                                                             \
        int result = name##_write_lock_slowly(lock);                                   \
        if (unlikely(result))                                                          \
            bravo_give_up(lock);                                                       \
        if (result || !bravo_must_revoke(lock))                                        \
            return result;                                                             \
        return bravo_write_result(lock, name##_write_undo, true, NULL);                \
    }                                                                                  \
    static FAST int name##_bravo_write_lock_entry(struct rwlock *lock)                 \
    {                                                                                  \
        if (unlikely(!prefix##_write_fast(lock __VA_ARGS__)))                          \
            return name##_bravo_write_lock_slowly(lock);                               \
        rwlock_show_writer(lock);                                                      \
        if (likely(load_relaxed(&lock->bias) == 0) || !bravo_must_revoke(lock))        \
            return 0;                                                                  \
        return bravo_write_result(lock, name##_write_undo, true, NULL);                \
    }                                                                                  \
    static int name##_bravo_write_timedlock_entry(struct rwlock *lock,                 \
                                                  const struct deadline *at)           \
    {                                                                                  \
        if (name##_write_trylock_entry(lock)) {                                        \
            bravo_close(lock);                                                         \
            int result = name##_write_timedlock_entry(lock, at);                       \
            if (result) {                                                              \
                bravo_give_up(lock);                                                   \
                return result;                                                         \
            }                                                                          \
        }                                                                              \
        if (!bravo_must_revoke(lock))                                                  \
            return 0;                                                                  \
        return bravo_write_result(lock, name##_write_undo, true, at);                  \
    }                                                                                  \
    static int name##_bravo_write_trylock_entry(struct rwlock *lock)                   \
    {                                                                                  \
        int result = name##_write_trylock_entry(lock);                                 \
        if (result || !bravo_must_revoke(lock))                                        \
            return result;                                                             \
        return bravo_write_result(lock, name##_write_undo, false, NULL);               \
    }

#define DEFINE_BRAVO_RELEASES(name, prefix, ...)                                       \
    static __attribute__((noinline)) int name##_bravo_unlock_slowly(                   \
        struct rwlock *lock)                                                           \
    {                                                                                  \
        rwlock_repair_in_child(lock, prefix##_forget);                                 \
        if (read_holds_drop_first(read_holds_mine(), lock, HOLD_COUNTED)) {            \
            prefix##_read_unlock(lock __VA_ARGS__);                                    \
            return 0;                                                                  \
        }                                                                              \
        int hold = read_holds_drop(lock);                                              \
        if (hold < 0 && load_relaxed(&lock->writer) == current_thread())               \
            return name##_write_unlock_entry(lock);                                    \
        if (hold < 0)                                                                  \
            hold = read_holds_drop_of_others(lock);                                    \
        if (hold == HOLD_BIASED)                                                       \
            bravo_left();                                                              \
        if (hold == HOLD_BIASED || hold == HOLD_NESTED)                                \
            return 0;                                                                  \
        if (hold < 0 && load_relaxed(&lock->writer))                                   \
            return name##_write_unlock_entry(lock);                                    \
        prefix##_read_unlock(lock __VA_ARGS__);                                        \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_bravo_read_unlock_entry(struct rwlock *lock)                \
    {                                                                                  \
        if (unlikely(!read_holds_drop_first(read_holds_mine(), lock, HOLD_BIASED)))    \
            return name##_bravo_unlock_slowly(lock);                                   \
        bravo_left();                                                                  \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_bravo_write_unlock_entry(struct rwlock *lock)               \
    {                                                                                  \
        return name##_write_unlock_entry(lock);                                        \
    }                                                                                  \
    static FAST int name##_bravo_unlock_entry(struct rwlock *lock)                     \
    {                                                                                  \
        if (likely(read_holds_drop_first(read_holds_mine(), lock, HOLD_BIASED))) {     \
            bravo_left();                                                              \
            return 0;                                                                  \
        }                                                                              \
        if (load_relaxed(&lock->writer) == current_thread())                           \
            return name##_write_unlock_entry(lock);                                    \
        return name##_bravo_unlock_slowly(lock);                                       \
    }                                                                                  \
    static enum rwlock_use name##_bravo_use_entry(const struct rwlock *lock)           \
    {                                                                                  \
        enum rwlock_use use = prefix##_use(lock __VA_ARGS__);                          \
        return use == RWLOCK_FREE && load_relaxed(&lock->bias) != 0 &&                 \
                       read_holds_biased(lock)                                         \
                   ? RWLOCK_READ                                                       \
                   : use;                                                              \
    }

#define DEFINE_BRAVO_OPERATIONS(name, prefix, ...)                                     \
    DEFINE_BRAVO_READING(name, prefix, __VA_ARGS__)                                    \
    DEFINE_BRAVO_WRITING(name, prefix, __VA_ARGS__)                                    \
    DEFINE_BRAVO_RELEASES(name, prefix, __VA_ARGS__)

#define BRAVO_OPERATIONS(name)                                                         \
    {                                                                                  \
        .read_lock = name##_bravo_read_lock_entry,                                     \
        .write_lock = name##_bravo_write_lock_entry,                                   \
        .read_timedlock = name##_bravo_read_timedlock_entry,                           \
        .write_timedlock = name##_bravo_write_timedlock_entry,                         \
        .read_trylock = name##_bravo_read_trylock_entry,                               \
        .write_trylock = name##_bravo_write_trylock_entry,                             \
        .read_unlock = name##_bravo_read_unlock_entry,                                 \
        .write_unlock = name##_bravo_write_unlock_entry,                               \
        .unlock = name##_bravo_unlock_entry, .destroy = name##_destroy_entry,          \
        .use = name##_bravo_use_entry                                                  \
    }

#endif
