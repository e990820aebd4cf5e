/* SPDX-License-Identifier: MIT */
/*
 * Builds the complete operations of descriptor.h from the inline functions of an
 * algorithm: DEFINE_OPERATIONS for the lock itself, DEFINE_RESTRICTED_OPERATIONS for
 * the same lock behind gcr.h.
 */
#ifndef HASP_LOCKS_LIST_LOCK_OPERATIONS_H
#define HASP_LOCKS_LIST_LOCK_OPERATIONS_H

#include "locks/algorithms/gcr.h"
#include "locks/list/descriptor.h"
#include "locks/list/lock_entries.h"
#include "locks/waiting/slices.h"

static inline enum acquisition acquired_by_waiting(struct lock *lock)
{
    return handed_body_came(lock) ? ACQUIRED_BY_HANDOVER : ACQUIRED;
}

/* Before a thread with a deadline may queue. */
static inline __attribute__((always_inline)) void expect_leavers(struct lock *lock,
                                                                 int word)
{
    if (word == HANDED_WORD)
        handed_body_expect_leavers(lock);
}

#define DEFINE_ADOPT_NONE(name, prefix, word, ...)
#define DEFINE_ADOPT_QUEUE(name, prefix, word, ...)                                    \
    static void name##_adopt_entry(struct lock *lock, struct waiter *waiter)           \
    {                                                                                  \
        prefix##_adopt(lock, waiter);                                                  \
    }                                                                                  \
    static void name##_adopted_entry(struct lock *lock, struct waiter *waiter)         \
    {                                                                                  \
        prefix##_adopted(lock, waiter);                                                \
        if (word != KEPT_WORD)                                                         \
            take_body(lock, word);                                                     \
    }
#define DEFINE_ADOPT_REQUEUE(name, prefix, word, ...)                                  \
    static void name##_adopt_entry(struct lock *lock, struct waiter *waiter)           \
    {                                                                                  \
        prefix##_adopt(lock, waiter);                                                  \
    }                                                                                  \
    static void name##_relock_entry(struct lock *lock)                                 \
    {                                                                                  \
        prefix##_relock(lock __VA_ARGS__);                                             \
        take_body(lock, word);                                                         \
    }

#define FIELDS_ADOPT_NONE(name)
#define FIELDS_ADOPT_QUEUE(name)                                                       \
    .adopt = name##_adopt_entry, .adopted = name##_adopted_entry,
#define FIELDS_ADOPT_REQUEUE(name)                                                     \
    .adopt = name##_adopt_entry, .relock = name##_relock_entry,

/* Ends a slow path. `undo` releases the lock of a thread that is cancelled now. */
static inline __attribute__((always_inline)) bool
finish_lock(struct lock *lock, int word, int token, void (*undo)(void *),
            enum acquisition how)
{
    if (word != HANDED_WORD)
        expect_wait(false);
    if (how == ACQUIRED)
        take_body(lock, word);
    wait_end(token, how ? undo : NULL, lock);
    return how != NOT_ACQUIRED;
}

/* prefix_acquire of a lock with a KEPT_WORD queues at once, and returns how the lock
 * was acquired. So the fast path comes first; the entry has not tried it if the id of
 * its thread was not known. */
#define TIMEDLOCK_OWN_WORD(prefix, ...)                                                \
    (prefix##_timedlock(__VA_ARGS__) ? ACQUIRED : NOT_ACQUIRED)
#define TIMEDLOCK_OWN_KEPT_WORD(prefix, ...) TIMEDLOCK_OWN_WORD(prefix, __VA_ARGS__)
#define TIMEDLOCK_SHOWN_WORD(prefix, ...) TIMEDLOCK_OWN_WORD(prefix, __VA_ARGS__)
#define TIMEDLOCK_WAITER_WORD(prefix, ...)                                             \
    (prefix##_fast(lock)          ? ACQUIRED                                           \
     : prefix##_wait(__VA_ARGS__) ? ACQUIRED_BY_HANDOVER                               \
                                  : NOT_ACQUIRED)
#define TIMEDLOCK_KEPT_WORD(prefix, ...)                                               \
    (prefix##_fast(lock) ? ACQUIRED : prefix##_acquire(__VA_ARGS__))
#define TIMEDLOCK_HANDED_WORD(prefix, ...)                                             \
    (prefix##_timedlock(__VA_ARGS__) ? acquired_by_waiting(lock) : NOT_ACQUIRED)
#define LOCK_OWN_WORD(prefix, ...) (prefix##_lock(__VA_ARGS__), ACQUIRED)
#define LOCK_OWN_KEPT_WORD(prefix, ...) prefix##_lock(__VA_ARGS__)
#define LOCK_SHOWN_WORD(prefix, ...) LOCK_OWN_WORD(prefix, __VA_ARGS__)
#define LOCK_WAITER_WORD(prefix, ...) TIMEDLOCK_WAITER_WORD(prefix, __VA_ARGS__, NULL)
#define LOCK_KEPT_WORD(prefix, ...)                                                    \
    (!current_thread_if_known() && prefix##_fast(lock)                                 \
         ? ACQUIRED                                                                    \
         : prefix##_acquire(__VA_ARGS__, NULL))
#define LOCK_HANDED_WORD(prefix, ...)                                                  \
    (prefix##_queue(__VA_ARGS__), acquired_by_waiting(lock))

/* Programs that have the lock's entry inline call it, too (src/library/). */
#define SLOW __attribute__((noinline, visibility("hidden")))

#define DEFINE_OPERATIONS(name, prefix, word, adoption, ...)                           \
    DEFINE_UNLOCK_##word(name, prefix, word, __VA_ARGS__)                              \
    static void name##_undo(void *lock)                                                \
    {                                                                                  \
        name##_unlock_entry(lock);                                                     \
    }                                                                                  \
    static bool name##_timedlock_entry(struct lock *, const struct deadline *);        \
    SLOW int name##_lock_slowly(struct lock *lock);                                    \
    DEFINE_LOCK_ENTRY(name, prefix, word)                                              \
    DEFINE_TRYLOCK_ENTRY(name, prefix, word, __VA_ARGS__)                              \
    int name##_lock_slowly(struct lock *lock)                                          \
    {                                                                                  \
        int token = wait_begin();                                                      \
        if (unlikely(wait_is_asynchronous(token))) {                                   \
            wait_end(token, NULL, NULL);                                               \
            expect_wait(false); /* the slices do not note it */                        \
            lock_in_slices(lock, name##_timedlock_entry, NULL);                        \
            return 0;                                                                  \
        }                                                                              \
        enum acquisition how = LOCK_##word(prefix, lock __VA_ARGS__);                  \
        finish_lock(lock, word, token, name##_undo, how);                              \
        return 0;                                                                      \
    }                                                                                  \
    static bool name##_timedlock_entry(struct lock *lock, const struct deadline *at)   \
    {                                                                                  \
        if (deadline_passed(at))                                                       \
            return name##_trylock_entry(lock); /* leaves nothing in the queue */       \
        int token = wait_begin();                                                      \
        expect_leavers(lock, word);                                                    \
        enum acquisition how = TIMEDLOCK_##word(prefix, lock __VA_ARGS__, at);         \
        return finish_lock(lock, word, token, name##_undo, how);                       \
    }                                                                                  \
    static void name##_destroy_entry(struct lock *lock)                                \
    {                                                                                  \
        prefix##_destroy(lock);                                                        \
    }                                                                                  \
    enum {                                                                             \
        name##_destroys = _Generic(&prefix##_destroy,                                  \
        struct nothing_to_destroy (*)(struct lock *): 0,                               \
        struct directory_to_destroy (*)(struct lock *): 1,                             \
        default: 2)                                                                    \
    };                                                                                 \
    DEFINE_##adoption(name, prefix, word, __VA_ARGS__)

#define OPERATIONS(name, adoption)                                                     \
    {                                                                                  \
        .lock = name##_lock_entry, .trylock = name##_trylock_entry,                    \
        .timedlock = name##_timedlock_entry, .unlock = name##_unlock_entry,            \
        .destroy = name##_destroys == 0   ? destroy_nothing                            \
                   : name##_destroys == 1 ? destroy_directory                          \
                                          : name##_destroy_entry,                      \
        FIELDS_##adoption(name)                                                        \
    }

/* Only waiting differs: release, trylock and condition handover are the lock's own. */
#define DEFINE_RESTRICTED_OPERATIONS(name, prefix, word, home, ...)                    \
    static bool name##_restricted_timedlock_entry(struct lock *,                       \
                                                  const struct deadline *);            \
    static __attribute__((noinline)) int name##_lock_restricted(struct lock *lock)     \
    {                                                                                  \
        int token = wait_begin();                                                      \
        if (unlikely(wait_is_asynchronous(token))) {                                   \
            wait_end(token, NULL, NULL);                                               \
            expect_wait(false); /* the slices do not note it */                        \
            lock_in_slices(lock, name##_restricted_timedlock_entry, NULL);             \
            return 0;                                                                  \
        }                                                                              \
        enum acquisition how = ACQUIRED;                                               \
        if (!prefix##_fast(lock)) { /* it may only have lacked the thread's id */      \
            struct gcr *gcr = gcr_of(lock, home);                                      \
            gcr_enter(gcr, NULL);                                                      \
            how = LOCK_##word(prefix, lock __VA_ARGS__);                               \
            gcr_leave(gcr);                                                            \
        }                                                                              \
        finish_lock(lock, word, token, name##_undo, how);                              \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_restricted_lock_entry(struct lock *lock)                    \
    {                                                                                  \
        uint32_t thread = current_thread_if_known();                                   \
        if (unlikely(!thread) || unlikely(!prefix##_fast(lock)))                       \
            return name##_lock_restricted(lock);                                       \
        take_body_at_once(lock, word, thread);                                         \
        return 0;                                                                      \
    }                                                                                  \
    static bool name##_restricted_timedlock_entry(struct lock *lock,                   \
                                                  const struct deadline *at)           \
    {                                                                                  \
        if (name##_trylock_entry(lock))                                                \
            return true;                                                               \
        if (deadline_passed(at))                                                       \
            return false;                                                              \
        int token = wait_begin();                                                      \
        expect_leavers(lock, word);                                                    \
        struct gcr *gcr = gcr_of(lock, home);                                          \
        enum acquisition how = NOT_ACQUIRED;                                           \
        if (gcr_enter(gcr, at)) {                                                      \
            how = TIMEDLOCK_##word(prefix, lock __VA_ARGS__, at);                      \
            gcr_leave(gcr);                                                            \
        }                                                                              \
        return finish_lock(lock, word, token, name##_undo, how);                       \
    }                                                                                  \
    static void name##_restricted_destroy_entry(struct lock *lock)                     \
    {                                                                                  \
        gcr_destroy(lock, home);                                                       \
        name##_destroy_entry(lock);                                                    \
    }

#define RESTRICTED_OPERATIONS(name, adoption)                                          \
    {                                                                                  \
        .lock = name##_restricted_lock_entry, .trylock = name##_trylock_entry,         \
        .timedlock = name##_restricted_timedlock_entry, .unlock = name##_unlock_entry, \
        .destroy = name##_restricted_destroy_entry, FIELDS_##adoption(name)            \
    }

#endif
