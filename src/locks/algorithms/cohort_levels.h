/* SPDX-License-Identifier: MIT */
/*
 * The upper level of cohort locks (cohort.h, cohort_queue.h): locks as levels, and the
 * steps of a leader. Where waiters may park, the global lock is MUTEXEE instead of a
 * backoff lock, so that leaders may park, too.
 */
#ifndef HASP_LOCKS_ALGORITHMS_COHORT_LEVELS_H
#define HASP_LOCKS_ALGORITHMS_COHORT_LEVELS_H

#include "locks/algorithms/mutexee.h"
#include "locks/algorithms/spinlock.h"
#include "locks/memory/shown_word.h"
#include "locks/memory/side_memory.h"
#include "locks/waiting/held_nodes.h"

/* The operations that a cohort lock needs from a lock, at either level. */
struct cohort_level {
    bool (*fast)(struct lock *); /* a first attempt; may fail without need */
    bool (*look)(struct lock *); /* the same, but reads before it writes */
    bool (*trylock)(struct lock *);
    bool (*timedlock)(struct lock *, const struct deadline *);
    void (*queue)(struct lock *); /* waits, without another attempt */
    void (*unlock)(struct lock *);
    void (*forget)(struct lock *, bool held);
    void (*destroy)(struct lock *);
    bool (*queued)(struct lock *); /* of ticket locks: called by the holder, true if a
                                    * thread waits */
};

/* Makes a lock usable as a level; `tries` and `looks` are its first attempts, `queues`
 * waits, `wait` and `wait_until` are the arguments of its functions. */
#define COHORT_LEVEL(level, prefix, tries, looks, queues, forget_it, tells, wait,      \
                     wait_until)                                                       \
    static inline bool level##_fast(struct lock *lock)                                 \
    {                                                                                  \
        return tries;                                                                  \
    }                                                                                  \
    static inline bool level##_look(struct lock *lock)                                 \
    {                                                                                  \
        return looks;                                                                  \
    }                                                                                  \
    static inline bool level##_trylock(struct lock *lock)                              \
    {                                                                                  \
        return prefix##_trylock wait;                                                  \
    }                                                                                  \
    static inline bool level##_timedlock(struct lock *lock,                            \
                                         const struct deadline *deadline)              \
    {                                                                                  \
        return prefix##_timedlock wait_until;                                          \
    }                                                                                  \
    static inline void level##_queue(struct lock *lock)                                \
    {                                                                                  \
        queues;                                                                        \
    }                                                                                  \
    static inline void level##_unlock(struct lock *lock)                               \
    {                                                                                  \
        prefix##_unlock wait;                                                          \
    }                                                                                  \
    static inline void level##_destroy(struct lock *lock)                              \
    {                                                                                  \
        prefix##_destroy(lock);                                                        \
    }                                                                                  \
    static const struct cohort_level level = {                                         \
        .fast = level##_fast,                                                          \
        .look = level##_look,                                                          \
        .trylock = level##_trylock,                                                    \
        .timedlock = level##_timedlock,                                                \
        .queue = level##_queue,                                                        \
        .unlock = level##_unlock,                                                      \
        .forget = forget_it,                                                           \
        .destroy = level##_destroy,                                                    \
        .queued = tells,                                                               \
    };

/* Global locks. */

static inline void cohort_no_queue(struct lock *lock, bool held)
{
    (void)lock; /* there is no queue to repair */
    (void)held;
}

COHORT_LEVEL(cohort_backoff, spinlock, spinlock_fast(lock),
             spinlock_trylock(lock, true), spinlock_lock(lock, true), cohort_no_queue,
             NULL, (lock, true), (lock, true, deadline))
COHORT_LEVEL(cohort_mutexee, mutexee, mutexee_trylock(lock, MUTEXEE_SPINNERS),
             mutexee_trylock(lock, MUTEXEE_SPINNERS),
             mutexee_lock(lock, MUTEXEE_SPINNERS), mutexee_forget, NULL,
             (lock, MUTEXEE_SPINNERS), (lock, MUTEXEE_SPINNERS, deadline))

/* Steps that all cohort locks share. A thread that passes through the local level holds
 * the lock by a node, and lock->mode shows that; one that has the global lock only has
 * none. */

enum { COHORT_PLACE }; /* in waiter.more: id of the side block of the local level */

static inline struct atomic_u32 *cohort_directory(struct lock *lock)
{
    return &lock->state[3];
}

/* Returns the block of that index; NULL if the caller waits for the global lock only,
 * because it may leave, or because memory is scarce. */
static inline struct side_block *cohort_block_get(struct lock *lock, uint32_t index,
                                                  const struct deadline *deadline)
{
    return deadline ? NULL
                    : side_memory_get_unless_scarce(cohort_directory(lock), index);
}

/* Not through the lock: when its holder releases it, arrivals may have its line. */
static inline struct side_block *cohort_place(const struct waiter *node)
{
    return side_block_at(load_relaxed(&node->more[COHORT_PLACE]));
}

static inline struct waiter *cohort_node_take(struct lock *lock, uint32_t place)
{
    struct waiter *self = waiter_take();
    held_node_prepare(lock, self);
    store_relaxed(&self->more[COHORT_PLACE], place);
    return self;
}

/* A leader that has acquired the global lock shows that it holds by a node. */
static inline __attribute__((always_inline)) void cohort_begin(struct lock *lock)
{
    store_relaxed(&lock->mode, 1);
    shown_word_set(lock, OWNER_IN_NODE);
}

/* Before the holder of a node releases the global lock. */
static inline __attribute__((always_inline)) void cohort_disband(struct lock *lock)
{
    shown_word_clear(lock);
    store_relaxed(&lock->mode, 0);
}

/* After a fork, once the local levels are repaired. `holder` is the node by which the
 * lock is held. If there is none although mode says so, a thread of the parent was
 * acquiring or releasing the lock: it becomes free. */
static inline __attribute__((always_inline)) void
cohort_forget_global(struct lock *lock, bool held, const struct waiter *holder,
                     const struct cohort_level *global)
{
    bool by_node = load_relaxed(&lock->mode) != 0;
    global->forget(lock, held || by_node);
    if (by_node && !holder) {
        cohort_disband(lock);
        global->unlock(lock);
    }
}

/* The thread has released a lock that it held by a node, so the lock was not free when
 * it came. Its next first attempt reads before it writes (name_fast below): a failed
 * one then leaves the line to those that read it, too. Otherwise a read would fetch the
 * line once more. */
static inline void cohort_node_give(struct waiter *node)
{
    expect_wait(true);
    waiter_give(node);
}

/* Defines the functions for locks.def of a lock whose local level is
 * prefix_forget, prefix_acquire and prefix_hand_over. The word is cleared when
 * name_release is called: the holder has no node, or another thread releases. */
#define COHORT_OPERATIONS(name, prefix, global_level)                                  \
    static __attribute__((unused)) void name##_forget(struct lock *lock, bool held)    \
    {                                                                                  \
        prefix##_forget(lock, held, &name);                                            \
    }                                                                                  \
    DEFAULT_BEFORE_RELEASE(name)                                                       \
    static inline bool name##_trylock(struct lock *lock)                               \
    {                                                                                  \
        /* A ticket lock's own trylock would repair the upper level only. */           \
        fork_repair_in_child(lock, name##_forget);                                     \
        return global_level.trylock(lock);                                             \
    }                                                                                  \
    static inline bool name##_fast(struct lock *lock)                                  \
    {                                                                                  \
        return current_thread_if_known() ? global_level.fast(lock)                     \
                                         : global_level.look(lock);                    \
    }                                                                                  \
    static __attribute__((noinline, unused)) enum acquisition name##_acquire(          \
        struct lock *lock, const struct deadline *deadline)                            \
    {                                                                                  \
        return prefix##_acquire(lock, &name, deadline);                                \
    }                                                                                  \
    static __attribute__((noinline, unused)) void name##_hand_over(                    \
        struct lock *lock, struct waiter *node)                                        \
    {                                                                                  \
        prefix##_hand_over(lock, node, &name);                                         \
    }                                                                                  \
    static __attribute__((noinline, unused)) void name##_release_foreign(              \
        struct lock *lock)                                                             \
    {                                                                                  \
        struct waiter *node = held_node_of_other(lock);                                \
        if (node)                                                                      \
            name##_hand_over(lock, node);                                              \
    }                                                                                  \
    static inline void name##_release(struct lock *lock)                               \
    {                                                                                  \
        if (likely(!load_relaxed(&lock->mode)))                                        \
            global_level.unlock(lock);                                                 \
        else                                                                           \
            name##_release_foreign(lock);                                              \
    }                                                                                  \
    static inline void name##_destroy(struct lock *lock)                               \
    {                                                                                  \
        global_level.destroy(lock);                                                    \
        side_memory_free(cohort_directory(lock));                                      \
    }

#endif
