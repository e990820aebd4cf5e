/* SPDX-License-Identifier: MIT */
#include "elision/rwlock_list.h"

#include "elision/elide.h"
#include "locks/list/names.h"
#include "rwlocks/algorithms/rw_futex.h"
#include "rwlocks/algorithms/rw_ttas.h"

#include <errno.h>

#define WRAPPER "elide+"

static struct rwlock *rwlock_from(struct lock *lock)
{
    return (struct rwlock *)(void *)lock;
}

static struct lock *lock_from(struct rwlock *rwlock)
{
    return (struct lock *)(void *)rwlock;
}

static uint64_t word_of(const struct lock *lock)
{
    return load_acquire(&((const struct rwlock *)(const void *)lock)->word);
}

/* What the sides load; see E6. Each is the condition of the side's trylock. */

static bool rw_futex_readable(const struct lock *lock)
{
    const uint64_t word = word_of(lock);
    return !(word & RW_FUTEX_WRITER) && !rw_futex_writers_wait(word);
}

static bool rw_futex_writable(const struct lock *lock)
{
    const uint64_t word = word_of(lock);
    return !rw_futex_held(word) && !rw_futex_writers_wait(word);
}

/* A writer that waits counts itself, in rw_ttas_open(); it excludes nobody. */
static bool rw_ttas_readable(const struct lock *lock)
{
    return !(word_of(lock) & RW_TTAS_WRITER) &&
           rw_ttas_open(rwlock_from((struct lock *)(uintptr_t)lock));
}

static bool rw_ttas_writable(const struct lock *lock)
{
    return word_of(lock) == 0;
}

#define ELIDED(ENTRY)                                                                  \
    ENTRY(rw_ttas, "rw-ttas")                                                          \
    ENTRY(rw_futex, "rw-futex")

enum {
#define ENTRY(id, name) PLACE_##id,
    ELIDED(ENTRY)
#undef ENTRY
        LENGTH,
};

/* The operations of the list, looked up by elided_rwlock_at(), at first while there is
 * one thread. */
static struct rwlock_operations inner[LENGTH];

/* The sides, as elide.c calls them. A deadlock that the lock reports looks like a
 * time-out to it. */
#define DEFINE_SIDE(id, side)                                                          \
    static int id##_##side##_lock_inside(struct lock *lock)                            \
    {                                                                                  \
        return inner[PLACE_##id].side##_lock(rwlock_from(lock));                       \
    }                                                                                  \
    static bool id##_##side##_trylock_inside(struct lock *lock)                        \
    {                                                                                  \
        return inner[PLACE_##id].side##_trylock(rwlock_from(lock)) == 0;               \
    }                                                                                  \
    static bool id##_##side##_timedlock_inside(struct lock *lock,                      \
                                               const struct deadline *at)              \
    {                                                                                  \
        return inner[PLACE_##id].side##_timedlock(rwlock_from(lock), at) == 0;         \
    }                                                                                  \
    static const struct lock_operations id##_##side##_inside = {                       \
        .lock = id##_##side##_lock_inside,                                             \
        .trylock = id##_##side##_trylock_inside,                                       \
        .timedlock = id##_##side##_timedlock_inside,                                   \
        .unlock = id##_unlock_inside,                                                  \
    };

#define DEFINE_ELIDED(id, side, may, is_reader)                                        \
    DEFINE_SIDE(id, side)                                                              \
    static const struct elided id##_##side = {                                         \
        .inner = &id##_##side##_inside,                                                \
        .own_word = true,                                                              \
        .reads = is_reader,                                                            \
        .available = id##_##may,                                                       \
        .skips_at = offsetof(struct rwlock, more[1]),                                  \
    };                                                                                 \
    static int elide_##id##_##side##_lock(struct rwlock *lock)                         \
    {                                                                                  \
        return elision_lock(lock_from(lock), &id##_##side,                             \
                            __builtin_return_address(0));                              \
    }                                                                                  \
    static int elide_##id##_##side##_trylock(struct rwlock *lock)                      \
    {                                                                                  \
        return elision_trylock(lock_from(lock), &id##_##side,                          \
                               __builtin_return_address(0))                            \
                   ? 0                                                                 \
                   : EBUSY;                                                            \
    }                                                                                  \
    static int elide_##id##_##side##_timedlock(struct rwlock *lock,                    \
                                               const struct deadline *at)              \
    {                                                                                  \
        return elision_timedlock(lock_from(lock), &id##_##side, at) ? 0                \
               : is_written_by_caller(lock)                         ? EDEADLK          \
                                                                    : ETIMEDOUT;       \
    }

static bool is_written_by_caller(const struct rwlock *lock)
{
    return load_relaxed(&lock->writer) == current_thread();
}

#define ENTRY(id, name)                                                                \
    static int id##_unlock_inside(struct lock *lock)                                   \
    {                                                                                  \
        return inner[PLACE_##id].unlock(rwlock_from(lock));                            \
    }                                                                                  \
    DEFINE_ELIDED(id, read, readable, true)                                            \
    DEFINE_ELIDED(id, write, writable, false)                                          \
    static int elide_##id##_unlock(struct rwlock *lock)                                \
    {                                                                                  \
        return elision_unlock(lock_from(lock), &id##_write,                            \
                              __builtin_return_address(0));                            \
    }
ELIDED(ENTRY)
#undef ENTRY

#define ENTRY(id, title)                                                               \
    {title,                                                                            \
     WRAPPER title,                                                                    \
     {.read_lock = elide_##id##_read_lock,                                             \
      .write_lock = elide_##id##_write_lock,                                           \
      .read_timedlock = elide_##id##_read_timedlock,                                   \
      .write_timedlock = elide_##id##_write_timedlock,                                 \
      .read_trylock = elide_##id##_read_trylock,                                       \
      .write_trylock = elide_##id##_write_trylock,                                     \
      .read_unlock = elide_##id##_unlock,                                              \
      .write_unlock = elide_##id##_unlock,                                             \
      .unlock = elide_##id##_unlock}},
static const struct {
    const char *inner, *name;
    struct rwlock_operations operations;
} list[LENGTH] = {ELIDED(ENTRY)};
#undef ENTRY

unsigned elided_rwlock_end(void)
{
    return rwlock_count() + LENGTH;
}

int elided_rwlock_find(const char *name)
{
    for (unsigned i = 0; i < LENGTH; i++)
        if (same_name(list[i].name, name))
            return (int)(rwlock_count() + i);
    return rwlock_find(name);
}

unsigned elided_rwlock_inner(unsigned index)
{
    return is_elided_rwlock(index)
               ? (unsigned)rwlock_find(list[index - rwlock_count()].inner)
               : index;
}

struct rwlock_descriptor elided_rwlock_at(unsigned index)
{
    struct rwlock_descriptor elided = rwlock_at(elided_rwlock_inner(index));
    if (!is_elided_rwlock(index))
        return elided;
    const unsigned place = index - rwlock_count();
    inner[place] = elided.operations;
    elided.operations = list[place].operations;
    elided.operations.destroy = inner[place].destroy;
    elided.operations.use = inner[place].use;
    elided.about.name = list[place].name;
    elided.about.alias = "";
    elided.about.category = "elision";
    elided.about.bytes += sizeof(struct atomic_u32); /* skips_at */
    elided.about.summary =
        "rw-ttas or rw-futex, elided by transactions where the machine has them";
    elided.about.source = "Rajwar and Goodman, MICRO 2001";
    elided.about.fifo = false; /* sections that commit overtake waiters */
    elided.about.bypasses = true;
    elided.about.bypass_bound = UINT32_MAX;
    elided.about.bypass_each = false;
    return elided;
}
