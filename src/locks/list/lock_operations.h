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
#include "locks/waiting/slices.h"

/* The last, variadic macro argument: ", x" or nothing, inserted after `lock`. */
#define WITH(argument) , argument
#define NOTHING

enum { OWN_WORD, SHOWN_WORD };

/* The caller has acquired the lock. If the word is not free, another thread has taken
 * it without going through the library, and both would run in the critical section. */
static inline __attribute__((always_inline)) void take_body(struct lock *lock, int word,
                                                            uint32_t thread)
{
    if (word == SHOWN_WORD) {
        if (unlikely(load_relaxed(&lock->word) != 0))
            die("a mutex was locked without the interposer (by a library in another "
                "namespace, or one bound to libc only?): run under --lock futex");
        store_relaxed(&lock->owner, thread);
        store_release(&lock->word, 2); /* a thread that sees it sees the owner */
    } else {
        store_relaxed(&lock->owner, thread);
    }
}

static inline __attribute__((always_inline)) void clear_body(struct lock *lock,
                                                             int word)
{
    if (word == SHOWN_WORD)
        store_relaxed(&lock->word, 0);
    else
        store_relaxed(&lock->owner, 0);
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
        take_body(lock, word, current_thread());                                       \
    }
#define DEFINE_ADOPT_REQUEUE(name, prefix, word, ...)                                  \
    static void name##_adopt_entry(struct lock *lock, struct waiter *waiter)           \
    {                                                                                  \
        prefix##_adopt(lock, waiter);                                                  \
    }                                                                                  \
    static void name##_relock_entry(struct lock *lock)                                 \
    {                                                                                  \
        prefix##_relock(lock __VA_ARGS__);                                             \
        take_body(lock, word, current_thread());                                       \
    }

#define FIELDS_ADOPT_NONE(name)
#define FIELDS_ADOPT_QUEUE(name)                                                       \
    .adopt = name##_adopt_entry, .adopted = name##_adopted_entry,
#define FIELDS_ADOPT_REQUEUE(name)                                                     \
    .adopt = name##_adopt_entry, .relock = name##_relock_entry,

/* Ends a slow path. `undo` releases the lock of a thread that is cancelled now. */
static inline __attribute__((always_inline)) int
finish_lock(struct lock *lock, int word, int token, void (*undo)(void *))
{
    take_body(lock, word, current_thread());
    wait_end(token, undo, lock);
    return 0;
}

static inline __attribute__((always_inline)) bool finish_timedlock(struct lock *lock,
                                                                   int word, int token,
                                                                   void (*undo)(void *),
                                                                   bool acquired)
{
    if (acquired)
        take_body(lock, word, current_thread());
    wait_end(token, acquired ? undo : NULL, lock);
    return acquired;
}

/* The fast path calls functions in tail position only, so it needs no stack frame. The
 * attribute inlines the rest even if a long list exhausts the compiler's budget. The
 * calls of the algorithm are spelled out in the macro, because GCC does not inline all
 * of them through a table of functions. */
#define FAST __attribute__((flatten))

#define DEFINE_OPERATIONS(name, prefix, word, adoption, ...)                           \
    static FAST int name##_unlock_entry(struct lock *lock)                             \
    {                                                                                  \
        prefix##_before_release(lock);                                                 \
        clear_body(lock, word);                                                        \
        prefix##_unlock(lock __VA_ARGS__);                                             \
        return 0;                                                                      \
    }                                                                                  \
    static void name##_undo(void *lock)                                                \
    {                                                                                  \
        name##_unlock_entry(lock);                                                     \
    }                                                                                  \
    static bool name##_timedlock_entry(struct lock *, const struct deadline *);        \
    static __attribute__((noinline)) int name##_lock_slowly(struct lock *lock)         \
    {                                                                                  \
        int token = wait_begin();                                                      \
        if (unlikely(wait_is_asynchronous(token))) {                                   \
            wait_end(token, NULL, NULL);                                               \
            lock_in_slices(lock, name##_timedlock_entry, NULL);                        \
            return 0;                                                                  \
        }                                                                              \
        prefix##_lock(lock __VA_ARGS__);                                               \
        return finish_lock(lock, word, token, name##_undo);                            \
    }                                                                                  \
    static FAST int name##_lock_entry(struct lock *lock)                               \
    {                                                                                  \
        uint32_t thread = current_thread_if_known();                                   \
        if (unlikely(!thread) || unlikely(!prefix##_fast(lock)))                       \
            return name##_lock_slowly(lock);                                           \
        take_body(lock, word, thread);                                                 \
        return 0;                                                                      \
    }                                                                                  \
    static FAST bool name##_trylock_entry(struct lock *lock)                           \
    {                                                                                  \
        if (!prefix##_trylock(lock __VA_ARGS__))                                       \
            return false;                                                              \
        take_body(lock, word, current_thread());                                       \
        return true;                                                                   \
    }                                                                                  \
    static bool name##_timedlock_entry(struct lock *lock, const struct deadline *at)   \
    {                                                                                  \
        if (deadline_passed(at))                                                       \
            return name##_trylock_entry(lock); /* leaves nothing in the queue */       \
        int token = wait_begin();                                                      \
        bool acquired = prefix##_timedlock(lock __VA_ARGS__, at);                      \
        return finish_timedlock(lock, word, token, name##_undo, acquired);             \
    }                                                                                  \
    static void name##_destroy_entry(struct lock *lock)                                \
    {                                                                                  \
        prefix##_destroy(lock);                                                        \
    }                                                                                  \
    enum {                                                                             \
        name##_destroys = _Generic(&prefix##_destroy,                                  \
        struct nothing_to_destroy (*)(struct lock *): 0,                               \
        default: 1)                                                                    \
    };                                                                                 \
    DEFINE_##adoption(name, prefix, word, __VA_ARGS__)

#define OPERATIONS(name, adoption)                                                     \
    {                                                                                  \
        .lock = name##_lock_entry, .trylock = name##_trylock_entry,                    \
        .timedlock = name##_timedlock_entry, .unlock = name##_unlock_entry,            \
        .destroy = name##_destroys ? name##_destroy_entry : destroy_nothing,           \
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
            lock_in_slices(lock, name##_restricted_timedlock_entry, NULL);             \
            return 0;                                                                  \
        }                                                                              \
        if (!prefix##_fast(lock)) { /* it may only have lacked the thread's id */      \
            struct gcr *gcr = gcr_of(lock, home);                                      \
            gcr_enter(gcr, NULL);                                                      \
            prefix##_lock(lock __VA_ARGS__);                                           \
            gcr_leave(gcr);                                                            \
        }                                                                              \
        return finish_lock(lock, word, token, name##_undo);                            \
    }                                                                                  \
    static FAST int name##_restricted_lock_entry(struct lock *lock)                    \
    {                                                                                  \
        uint32_t thread = current_thread_if_known();                                   \
        if (unlikely(!thread) || unlikely(!prefix##_fast(lock)))                       \
            return name##_lock_restricted(lock);                                       \
        take_body(lock, word, thread);                                                 \
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
        struct gcr *gcr = gcr_of(lock, home);                                          \
        bool acquired = gcr_enter(gcr, at);                                            \
        if (acquired) {                                                                \
            acquired = prefix##_timedlock(lock __VA_ARGS__, at);                       \
            gcr_leave(gcr);                                                            \
        }                                                                              \
        return finish_timedlock(lock, word, token, name##_undo, acquired);             \
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
