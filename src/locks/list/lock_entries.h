/* SPDX-License-Identifier: MIT */
/*
 * The entries that programs call most: lock without contention, trylock, unlock. The
 * interposer reaches them through the list's tables; a program that uses the library
 * (include/hasp/mutex.h) has them inline. Each falls back to name##_lock_slowly() and
 * to functions of its algorithm.
 */
#ifndef HASP_LOCKS_LIST_LOCK_ENTRIES_H
#define HASP_LOCKS_LIST_LOCK_ENTRIES_H

#include "locks/memory/handed_body.h"
#include "locks/waiting/held_nodes.h"

/* The last, variadic macro argument: ", x" or nothing, inserted after `lock`. */
#define WITH(argument) , argument
#define NOTHING

/* OWN_WORD: the algorithm keeps its state in the word. SHOWN_WORD: each acquisition
 * sets the word, each release clears it. WAITER_WORD: the same, but prefix_wait sets
 * word and owner itself. KEPT_WORD: so do acquisitions without a node;
 * the word stands while nodes hand the lock over (held_nodes.h). HANDED_WORD: the word
 * stands while a lock without nodes is handed to waiters (handed_body.h).
 * OWN_KEPT_WORD: as OWN_WORD, and the word stands while nodes hand the lock over. */
enum { OWN_WORD, SHOWN_WORD, WAITER_WORD, KEPT_WORD, HANDED_WORD, OWN_KEPT_WORD };

/* Whether a thread may hold the lock by a node. */
static inline __attribute__((always_inline)) bool keeps_nodes(int word)
{
    return word == KEPT_WORD || word == OWN_KEPT_WORD;
}

/* Whether the algorithm itself writes the word. */
static inline __attribute__((always_inline)) bool owns_word(int word)
{
    return word == OWN_WORD || word == OWN_KEPT_WORD;
}

/* The thread has acquired the lock without a node. It has no nodes on a fast path. */
static inline __attribute__((always_inline)) void
take_body_at_once(struct lock *lock, int word, uint32_t thread)
{
    if (owns_word(word))
        store_relaxed(&lock->owner, thread);
    else
        shown_word_set(lock, thread);
}

static inline __attribute__((always_inline)) void take_body(struct lock *lock, int word)
{
    take_body_at_once(lock, word, current_thread());
    if (keeps_nodes(word) && unlikely(held_nodes_count() != 0))
        held_nodes_drop(lock);
}

static inline __attribute__((always_inline)) void clear_body(struct lock *lock,
                                                             int word)
{
    if (owns_word(word))
        store_relaxed(&lock->owner, 0);
    else
        shown_word_clear(lock);
}

/* The fast path calls functions in tail position only, so it needs no stack frame. The
 * attribute inlines the rest even if a long list exhausts the compiler's budget. The
 * calls of the algorithm are spelled out in the macro, because GCC does not inline all
 * of them through a table of functions. */
#define FAST __attribute__((flatten, unused))

#define DEFINE_UNLOCK_OWN_WORD(name, prefix, word, ...)                                \
    static FAST int name##_unlock_entry(struct lock *lock)                             \
    {                                                                                  \
        prefix##_before_release(lock);                                                 \
        clear_body(lock, word);                                                        \
        prefix##_unlock(lock __VA_ARGS__);                                             \
        return 0;                                                                      \
    }
#define DEFINE_UNLOCK_SHOWN_WORD(name, prefix, word, ...)                              \
    DEFINE_UNLOCK_OWN_WORD(name, prefix, word, __VA_ARGS__)
#define DEFINE_UNLOCK_WAITER_WORD(name, prefix, word, ...)                             \
    DEFINE_UNLOCK_OWN_WORD(name, prefix, word, __VA_ARGS__)

/* prefix_release decides whether the word is cleared. Only a forked child may have to
 * repair the lock. */
#define DEFINE_UNLOCK_HANDED_WORD(name, prefix, word, ...)                             \
    static __attribute__((noinline)) int name##_unlock_in_child(struct lock *lock)     \
    {                                                                                  \
        prefix##_before_release(lock);                                                 \
        prefix##_release(lock __VA_ARGS__);                                            \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_unlock_entry(struct lock *lock)                             \
    {                                                                                  \
        if (unlikely(is_forked_child()))                                               \
            return name##_unlock_in_child(lock);                                       \
        prefix##_release(lock __VA_ARGS__);                                            \
        return 0;                                                                      \
    }

/* The cache comes first: what the thread holds by a node is released without reading
 * the lock. A thread whose id is known has an empty cache. Only a forked child may have
 * to repair the lock. */
#define DEFINE_UNLOCK_KEPT_WORD(name, prefix, word, ...)                               \
    static __attribute__((noinline)) int name##_unlock_in_child(struct lock *lock)     \
    {                                                                                  \
        prefix##_before_release(lock);                                                 \
        clear_body(lock, word);                                                        \
        prefix##_release(lock __VA_ARGS__);                                            \
        return 0;                                                                      \
    }                                                                                  \
    static inline int name##_unlock_without_node(struct lock *lock)                    \
    {                                                                                  \
        if (unlikely(is_forked_child()))                                               \
            return name##_unlock_in_child(lock);                                       \
        prefetch_for_write(&lock->generation);                                         \
        clear_body(lock, word);                                                        \
        prefix##_release(lock __VA_ARGS__);                                            \
        return 0;                                                                      \
    }                                                                                  \
    static __attribute__((noinline)) int name##_unlock_slowly(struct lock *lock)       \
    {                                                                                  \
        struct waiter *node = held_nodes_take(lock, held_nodes_count());               \
        if (!node) {                                                                   \
            expect_wait(false); /* makes the id known, if it only was not yet */       \
            return name##_unlock_without_node(lock);                                   \
        }                                                                              \
        prefix##_hand_over(lock __VA_ARGS__, node);                                    \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_unlock_entry(struct lock *lock)                             \
    {                                                                                  \
        return likely(current_thread_if_known()) ? name##_unlock_without_node(lock)    \
                                                 : name##_unlock_slowly(lock);         \
    }

/* The cache comes first here, too, once any lock is held by nodes. prefix_unlock clears
 * the owner, unless the lock is held by a node that the cache lacks, and repairs the
 * lock in a forked child. */
#define DEFINE_UNLOCK_OWN_KEPT_WORD(name, prefix, word, ...)                           \
    static __attribute__((noinline)) int name##_unlock_slowly(struct lock *lock)       \
    {                                                                                  \
        struct waiter *node = held_nodes_take(lock, held_nodes_count());               \
        if (node) {                                                                    \
            prefix##_hand_over(lock, node);                                            \
        } else {                                                                       \
            expect_wait(false); /* makes the id known, if it only was not yet */       \
            prefix##_unlock(lock __VA_ARGS__);                                         \
        }                                                                              \
        return 0;                                                                      \
    }                                                                                  \
    static FAST int name##_unlock_entry(struct lock *lock)                             \
    {                                                                                  \
        if (unlikely(prefix##_uses_nodes()) && !current_thread_if_known())             \
            return name##_unlock_slowly(lock);                                         \
        prefix##_unlock(lock __VA_ARGS__);                                             \
        return 0;                                                                      \
    }

#define DEFINE_LOCK_ENTRY(name, prefix, word)                                          \
    static FAST int name##_lock_entry(struct lock *lock)                               \
    {                                                                                  \
        uint32_t thread = current_thread_if_known();                                   \
        if (unlikely(!thread) || unlikely(!prefix##_fast(lock)))                       \
            return name##_lock_slowly(lock);                                           \
        take_body_at_once(lock, word, thread);                                         \
        return 0;                                                                      \
    }

/* An algorithm's trylock returns a bool or how it acquired. */
#define DEFINE_TRYLOCK_ENTRY(name, prefix, word, ...)                                  \
    static FAST bool name##_trylock_entry(struct lock *lock)                           \
    {                                                                                  \
        int how = prefix##_trylock(lock __VA_ARGS__);                                  \
        if (how == ACQUIRED)                                                           \
            take_body(lock, word);                                                     \
        return how != NOT_ACQUIRED;                                                    \
    }

#endif
