/* SPDX-License-Identifier: MIT */
/* Turns locks.def into descriptors: for each line, the algorithm's inline functions
 * become the complete operations of descriptor.h. Compiled once per platform. */
#include "locks/descriptor.h"

#include <ctype.h>

/* Travels as the last, variadic macro argument: ", x" or nothing, behind `lock`. */
#define WITH(argument) , argument
#define NOTHING

enum { OWN_WORD, SHOWN_WORD };
enum {
    FIFO = 1,
    BYPASSES = 2,
    PARKS = 4,
    NUMA = 8,
    LIGHT = 16,
    TRYLOCK_HARDENED = 32,
    BOUND_SHIFT = 8,
};
#define BYPASS_AT_MOST(n) ((n) << BOUND_SHIFT)
#define BYPASS_BOUND(properties)                                                       \
    ((properties)&BYPASSES ? UINT32_MAX : (uint32_t)(properties) >> BOUND_SHIFT)

#define SPACE(in_place, each_waiter) .bytes = in_place, .waiter_bytes = each_waiter
#define SPACE_OUTSIDE(in_place, each_waiter, outside, each_node)                       \
    SPACE(in_place, each_waiter), .outside_bytes = outside, .node_bytes = each_node

/* The caller has acquired the lock. A word that is not free then was taken by somebody
 * who does not go through the library: both would run in the critical section. */
static inline void take_body(struct lock *lock, int word, uint32_t thread)
{
    if (word == SHOWN_WORD) {
        if (unlikely(load_relaxed(&lock->word) != 0))
            die("a mutex was locked behind the interposer's back (a library in another "
                "namespace, or bound to libc only?); run under --lock futex");
        store_relaxed(&lock->owner, thread);
        store_release(&lock->word, 2); /* whoever sees it sees the owner */
    } else {
        store_relaxed(&lock->owner, thread);
    }
}

static inline void clear_body(struct lock *lock, int word)
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

/* The fast path makes no call but in tail position, so it needs no stack frame. */
#define DEFINE_ENTRIES(name, prefix, word, adoption, ...)                              \
    static int name##_unlock_entry(struct lock *lock)                                  \
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
    static __attribute__((noinline)) int name##_lock_slowly(struct lock *lock)         \
    {                                                                                  \
        int token = wait_begin();                                                      \
        prefix##_lock(lock __VA_ARGS__);                                               \
        take_body(lock, word, current_thread());                                       \
        wait_end(token, name##_undo, lock);                                            \
        return 0;                                                                      \
    }                                                                                  \
    static int name##_lock_entry(struct lock *lock)                                    \
    {                                                                                  \
        uint32_t thread = current_thread_if_known();                                   \
        if (unlikely(!thread) || unlikely(!prefix##_fast(lock)))                       \
            return name##_lock_slowly(lock);                                           \
        take_body(lock, word, thread);                                                 \
        return 0;                                                                      \
    }                                                                                  \
    static bool name##_trylock_entry(struct lock *lock)                                \
    {                                                                                  \
        if (!prefix##_trylock(lock __VA_ARGS__))                                       \
            return false;                                                              \
        take_body(lock, word, current_thread());                                       \
        return true;                                                                   \
    }                                                                                  \
    static bool name##_timedlock_entry(struct lock *lock, const struct deadline *at)   \
    {                                                                                  \
        if (deadline_passed(at)) /* leave no trace in the queue */                     \
            return name##_trylock_entry(lock);                                         \
        int token = wait_begin();                                                      \
        bool acquired = prefix##_timedlock(lock __VA_ARGS__, at);                      \
        if (acquired)                                                                  \
            take_body(lock, word, current_thread());                                   \
        wait_end(token, acquired ? name##_undo : NULL, lock);                          \
        return acquired;                                                               \
    }                                                                                  \
    static void name##_destroy_entry(struct lock *lock)                                \
    {                                                                                  \
        prefix##_destroy(lock);                                                        \
    }                                                                                  \
    DEFINE_##adoption(name, prefix, word, __VA_ARGS__)

#define OPERATIONS(name, adoption)                                                     \
    {                                                                                  \
        .lock = name##_lock_entry, .trylock = name##_trylock_entry,                    \
        .timedlock = name##_timedlock_entry, .unlock = name##_unlock_entry,            \
        .destroy = name##_destroy_entry, FIELDS_##adoption(name)                       \
    }

#define LOCK(name, title, alias, prefix, argument, word, adoption, ...)                \
    DEFINE_ENTRIES(name, prefix, word, adoption, argument)
#include "locks/locks.def"
#undef LOCK

DEFINE_ENTRIES(futex_unbiased, futex, OWN_WORD, ADOPT_REQUEUE, WITH(false))
const struct lock_operations futex_unbiased_operations =
    OPERATIONS(futex_unbiased, ADOPT_REQUEUE);

const struct lock_descriptor lock_list[] = {
    {.name = "glibc",
     .alias = "pthread",
     .category = "system",
     .waiting = "park",
     .bypasses = true,
     .bypass_bound = UINT32_MAX,
     .parks = true,
     .light = true,
     .summary = "the C library's own mutex, untouched: the reference",
     .source = "GNU C Library",
     .caution = ""},
#define LOCK(id, title, study_name, prefix, argument, word, adoption, kind, how,       \
             properties, space, words, paper, warning)                     \
    {.name = title,                                                                    \
     .alias = study_name,                                                              \
     .category = kind,                                                                 \
     .waiting = how,                                                                   \
     .fifo = ((properties)&FIFO) != 0,                                                 \
     .bypasses = BYPASS_BOUND(properties) != 0,                                        \
     .bypass_bound = BYPASS_BOUND(properties),                                         \
     .parks = ((properties)&PARKS) != 0,                                               \
     .numa = ((properties)&NUMA) != 0,                                                 \
     .light = ((properties)&LIGHT) != 0,                                               \
     .trylock_hardened = ((properties)&TRYLOCK_HARDENED) != 0,                         \
     space,                                                                            \
     .summary = words,                                                                 \
     .source = paper,                                                                  \
     .caution = warning,                                                               \
     .operations = OPERATIONS(id, adoption)},
#include "locks/locks.def"
#undef LOCK
};

const unsigned lock_list_length = sizeof lock_list / sizeof lock_list[0];
const unsigned lock_default =
    sizeof lock_list / sizeof lock_list[0] - 1; /* futex: last */

static int same_letter(char a, char b)
{
    a = a == '_' ? '-' : (char)tolower((unsigned char)a);
    b = b == '_' ? '-' : (char)tolower((unsigned char)b);
    return a == b;
}

static bool same_name(const char *a, const char *b)
{
    while (*a && *b && same_letter(*a, *b))
        a++, b++;
    return !*a && !*b;
}

int lock_find(const char *name)
{
    for (unsigned i = 0; i < lock_list_length; i++)
        if (same_name(name, lock_list[i].name) ||
            (lock_list[i].alias[0] && same_name(name, lock_list[i].alias)))
            return (int)i;
    return -1;
}
