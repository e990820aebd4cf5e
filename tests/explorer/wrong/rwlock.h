/* SPDX-License-Identifier: MIT */
/*
 * A small reader-writer lock with one seeded bug, which the explorer must reject. It
 * must accept it with the bug RW_NONE. Readers and writers sleep on one word: bit 0 a
 * writer holds the lock, bit 1 somebody may sleep, from bit 2 on the number of readers.
 */
#ifndef HASP_TESTS_EXPLORER_WRONG_RWLOCK_H
#define HASP_TESTS_EXPLORER_WRONG_RWLOCK_H

#include "explorer/clients/clients.h"
#include "explorer/base/variables.h"

#include <errno.h>

#define EACH_RWLOCK_BUG(X)                                                             \
    X(RW_NONE)                                                                         \
    X(RW_READ_RELAXED)                                                                 \
    X(RW_WRITE_RELAXED)                                                                \
    X(RW_READ_UNLOCK_RELAXED)                                                          \
    X(RW_WRITE_UNLOCK_RELAXED)                                                         \
    X(RW_READERS_EXCLUDE)                                                              \
    X(RW_WRITER_BESIDE_READERS)                                                        \
    X(RW_READER_BESIDE_WRITER)                                                         \
    X(RW_NO_WAKE_UP)                                                                   \
    X(RW_WAKES_ONE)                                                                    \
    X(RW_WAKES_NO_WRITER)                                                              \
    X(RW_TRYLOCK_FAILS)                                                                \
    X(RW_TIMEOUT_RETURNS_0)                                                            \
    X(RW_WRITES_AFTER_RELEASE)                                                         \
    X(RW_RECURSION_WAITS)                                                              \
    X(RW_NO_EDEADLK)                                                                   \
    X(RW_GATE_STAYS_CLOSED)

#define RWLOCK_BUG(name) name,
enum rwlock_bug { EACH_RWLOCK_BUG(RWLOCK_BUG) };
#undef RWLOCK_BUG

enum { RW_WRITER = 1, RW_ASLEEP = 2, RW_READER = 4 };

/* Returns whether the lock was available. `state[1]` counts waiting writers for the
 * bugs with a gate. */
static inline bool wrong_enter(struct rwlock *lock, bool writes, enum rwlock_bug bug)
{
    uint32_t word = load_relaxed(&lock->state[0]);
    bool gate = bug == RW_RECURSION_WAITS || bug == RW_GATE_STAYS_CLOSED;
    bool gated = gate && !writes && load_relaxed(&lock->state[1]);
    for (;;) {
        bool blocked = writes ? word >= RW_READER || word & RW_WRITER
                              : word & RW_WRITER || gated;
        if (bug == RW_READERS_EXCLUDE)
            blocked = blocked || word >= RW_READER;
        if (bug == RW_WRITER_BESIDE_READERS && writes)
            blocked = word & RW_WRITER;
        if (bug == RW_READER_BESIDE_WRITER && !writes)
            blocked = false;
        if (blocked)
            return false;
        uint32_t next = writes ? word | RW_WRITER : word + RW_READER;
        bool relaxed = bug == (writes ? RW_WRITE_RELAXED : RW_READ_RELAXED);
        if (relaxed ? compare_exchange_relaxed(&lock->state[0], &word, next)
                    : compare_exchange_acquire(&lock->state[0], &word, next))
            return true;
    }
}

static inline int wrong_wait(struct rwlock *lock, bool writes,
                             const struct deadline *deadline, enum rwlock_bug bug)
{
    bool counted = false;
    if (bug != RW_NO_EDEADLK && load_relaxed(&lock->writer) == current_thread())
        return EDEADLK;
    while (!wrong_enter(lock, writes, bug)) {
        if (writes && !counted)
            fetch_add_relaxed(&lock->state[1], 1);
        counted = writes;
        uint32_t word = fetch_or_relaxed(&lock->state[0], RW_ASLEEP) | RW_ASLEEP;
        bool free = writes ? word == RW_ASLEEP : !(word & RW_WRITER);
        if (bug == RW_RECURSION_WAITS || bug == RW_GATE_STAYS_CLOSED ||
            (bug == RW_READERS_EXCLUDE && word >= RW_READER))
            free = false;
        if (!free && !park(&lock->state[0], word, deadline)) {
            if (counted && bug != RW_GATE_STAYS_CLOSED)
                fetch_add_relaxed(&lock->state[1], UINT32_MAX);
            return bug == RW_TIMEOUT_RETURNS_0 ? 0 : ETIMEDOUT;
        }
    }
    if (counted)
        fetch_add_relaxed(&lock->state[1], UINT32_MAX);
    if (writes)
        store_relaxed(&lock->writer, current_thread());
    return 0;
}

static inline int wrong_try(struct rwlock *lock, bool writes, enum rwlock_bug bug)
{
    if (!wrong_enter(lock, writes, bug))
        return EBUSY;
    if (writes)
        store_relaxed(&lock->writer, current_thread());
    return 0;
}

static inline int wrong_leave(struct rwlock *lock, bool writes, enum rwlock_bug bug)
{
    if (writes)
        store_relaxed(&lock->writer, 0);
    bool relaxed = bug == (writes ? RW_WRITE_UNLOCK_RELAXED : RW_READ_UNLOCK_RELAXED);
    uint32_t word = load_relaxed(&lock->state[0]), next;
    do {
        next = writes ? word & ~(uint32_t)RW_WRITER : word - RW_READER;
        if (next == RW_ASLEEP)
            next = 0;
    } while (relaxed ? !compare_exchange_relaxed(&lock->state[0], &word, next)
                     : !compare_exchange_release(&lock->state[0], &word, next));
    if (bug == RW_WRITES_AFTER_RELEASE)
        store_relaxed(&lock->more[0], 1);
    bool wakes = word & RW_ASLEEP && bug != RW_NO_WAKE_UP &&
                 (writes || bug != RW_WAKES_NO_WRITER);
    if (wakes)
        unpark(&lock->state[0], bug == RW_WAKES_ONE ? 1 : INT32_MAX);
    return 0;
}

#define WRONG_RWLOCK(bug)                                                              \
    static int bug##_read_lock(struct rwlock *lock)                                    \
    {                                                                                  \
        return wrong_wait(lock, false, NULL, bug);                                     \
    }                                                                                  \
    static int bug##_write_lock(struct rwlock *lock)                                   \
    {                                                                                  \
        return wrong_wait(lock, true, NULL, bug);                                      \
    }                                                                                  \
    static int bug##_read_timedlock(struct rwlock *lock, const struct deadline *at)    \
    {                                                                                  \
        return wrong_wait(lock, false, at, bug);                                       \
    }                                                                                  \
    static int bug##_write_timedlock(struct rwlock *lock, const struct deadline *at)   \
    {                                                                                  \
        return wrong_wait(lock, true, at, bug);                                        \
    }                                                                                  \
    static int bug##_read_trylock(struct rwlock *lock)                                 \
    {                                                                                  \
        return bug == RW_TRYLOCK_FAILS ? EBUSY : wrong_try(lock, false, bug);          \
    }                                                                                  \
    static int bug##_write_trylock(struct rwlock *lock)                                \
    {                                                                                  \
        return wrong_try(lock, true, bug);                                             \
    }                                                                                  \
    static int bug##_read_unlock(struct rwlock *lock)                                  \
    {                                                                                  \
        return wrong_leave(lock, false, bug);                                          \
    }                                                                                  \
    static int bug##_write_unlock(struct rwlock *lock)                                 \
    {                                                                                  \
        return wrong_leave(lock, true, bug);                                           \
    }                                                                                  \
    static int bug##_unlock(struct rwlock *lock)                                       \
    {                                                                                  \
        return wrong_leave(lock, load_relaxed(&lock->writer) != 0, bug);               \
    }                                                                                  \
    static int bug##_destroy(struct rwlock *lock)                                      \
    {                                                                                  \
        (void)lock;                                                                    \
        return 0;                                                                      \
    }                                                                                  \
    static const struct rwlock_operations bug##_operations = {                         \
        .read_lock = bug##_read_lock, .write_lock = bug##_write_lock,                  \
        .read_timedlock = bug##_read_timedlock,                                        \
        .write_timedlock = bug##_write_timedlock,                                      \
        .read_trylock = bug##_read_trylock, .write_trylock = bug##_write_trylock,      \
        .read_unlock = bug##_read_unlock, .write_unlock = bug##_write_unlock,          \
        .unlock = bug##_unlock, .destroy = bug##_destroy};

#endif
