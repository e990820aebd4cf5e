/* SPDX-License-Identifier: MIT */
#include "elision/list.h"

#include "elision/elide.h"
#include "locks/list/lock_entries.h"
#include "locks/list/names.h"

#include <stddef.h>

#define WRAPPER "elide+"

/* The list includes the algorithms' headers, which must not be inside an enum. */
#define LOCK(...)
#include "locks/locks.def"
#undef LOCK

enum {
    BEFORE_FIRST, /* the pass-through */
#define LOCK(id, ...) PLACE_##id,
#include "locks/locks.def"
#undef LOCK
    LENGTH,
};

static struct elided elided_list[LENGTH] = {
    {.inner = NULL},
#define LOCK(id, title, alias, prefix, argument, word, ...)                            \
    {.inner = &lock_list[PLACE_##id].operations,                                       \
     .own_word = (word) == OWN_WORD || (word) == OWN_KEPT_WORD,                        \
     .skips_at = offsetof(struct lock, count)},
#include "locks/locks.def"
#undef LOCK
};

#define DEFINE_ADOPT(id)                                                               \
    static void elide_##id##_adopt(struct lock *lock, struct waiter *waiter)           \
    {                                                                                  \
        elided_list[PLACE_##id].inner->adopt(lock, waiter);                            \
    }
#define DEFINE_ADOPT_NONE(id)
#define DEFINE_ADOPT_QUEUE(id)                                                         \
    DEFINE_ADOPT(id)                                                                   \
    static void elide_##id##_adopted(struct lock *lock, struct waiter *waiter)         \
    {                                                                                  \
        elided_list[PLACE_##id].inner->adopted(lock, waiter);                          \
        elision_acquired(&elided_list[PLACE_##id]);                                    \
    }
#define DEFINE_ADOPT_REQUEUE(id)                                                       \
    DEFINE_ADOPT(id)                                                                   \
    static void elide_##id##_relock(struct lock *lock)                                 \
    {                                                                                  \
        elided_list[PLACE_##id].inner->relock(lock);                                   \
        elision_acquired(&elided_list[PLACE_##id]);                                    \
    }

/* Each operation passes its lock's entry of elided_list. */
#define LOCK(id, title, alias, prefix, argument, word, adoption, ...)                  \
    static int elide_##id##_lock(struct lock *lock)                                    \
    {                                                                                  \
        return elision_lock(lock, &elided_list[PLACE_##id],                            \
                            __builtin_return_address(0));                              \
    }                                                                                  \
    static bool elide_##id##_trylock(struct lock *lock)                                \
    {                                                                                  \
        return elision_trylock(lock, &elided_list[PLACE_##id],                         \
                               __builtin_return_address(0));                           \
    }                                                                                  \
    static bool elide_##id##_timedlock(struct lock *lock, const struct deadline *at)   \
    {                                                                                  \
        return elision_timedlock(lock, &elided_list[PLACE_##id], at);                  \
    }                                                                                  \
    static int elide_##id##_unlock(struct lock *lock)                                  \
    {                                                                                  \
        return elision_unlock(lock, &elided_list[PLACE_##id],                          \
                              __builtin_return_address(0));                            \
    }                                                                                  \
    static void elide_##id##_destroy(struct lock *lock)                                \
    {                                                                                  \
        elided_list[PLACE_##id].inner->destroy(lock);                                  \
    }                                                                                  \
    DEFINE_##adoption(id)
#include "locks/locks.def"
#undef LOCK

#define ADOPTION_ADOPT_NONE(id)
#define ADOPTION_ADOPT_QUEUE(id)                                                       \
    .adopt = elide_##id##_adopt, .adopted = elide_##id##_adopted,
#define ADOPTION_ADOPT_REQUEUE(id)                                                     \
    .adopt = elide_##id##_adopt, .relock = elide_##id##_relock,

static const struct {
    const char *name;
    struct lock_operations operations;
} names_and_operations[LENGTH] = {
    {NULL, {.lock = NULL}},
#define LOCK(id, title, alias, prefix, argument, word, adoption, ...)                  \
    {WRAPPER title,                                                                    \
     {.lock = elide_##id##_lock, .trylock = elide_##id##_trylock,                      \
      .timedlock = elide_##id##_timedlock, .unlock = elide_##id##_unlock,              \
      .destroy = elide_##id##_destroy, ADOPTION_##adoption(id)}},
#include "locks/locks.def"
#undef LOCK
};

unsigned elided_end(void)
{
    return lock_count + LENGTH - 1;
}

int elided_find(const char *name)
{
    const char *inner = without_prefix(WRAPPER, name);
    if (!inner)
        return lock_find(name);
    int found = lock_find(inner);
    return found > 0 && found < LENGTH ? found + (int)lock_count - 1 : -1;
}

struct lock_descriptor elided_at(unsigned index)
{
    if (!is_elided(index))
        return lock_at(index);
    struct lock_descriptor elided = lock_at(elided_inner(index));
    elided.name = names_and_operations[elided_inner(index)].name;
    elided.alias = "";
    elided.category = "elision";
    elided.summary = "the lock, elided by hardware transactions where there are any";
    elided.source = "Rajwar and Goodman, MICRO 2001; Moore, MSc thesis, Virginia Tech "
                    "2015";
    elided.fifo = false; /* sections that commit overtake waiters */
    elided.bypasses = true;
    elided.bypass_bound = UINT32_MAX;
    elided.bypass_each = false;
    elided.operations = names_and_operations[elided_inner(index)].operations;
    return elided;
}

const struct lock_operations *elided_operations_at(unsigned index)
{
    return is_elided(index) ? &names_and_operations[elided_inner(index)].operations
                            : lock_operations_at(index);
}

void elided_use(unsigned inner, const struct lock_operations *operations)
{
    elided_list[inner].inner = operations;
}
