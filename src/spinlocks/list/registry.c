/* SPDX-License-Identifier: MIT */
/* Expands spinlocks.def into the list of descriptor.h. Compiled once per platform. */
#include "spinlocks/list/descriptor.h"

#include "locks/list/names.h"
#include "locks/list/properties.h"

#include <errno.h>

#define SPINLOCK(id, title, prefix, call, ...)                                         \
    static int id##_init_entry(struct spinlock *lock, int shared)                      \
    {                                                                                  \
        prefix##_init(lock, shared != 0);                                              \
        return 0;                                                                      \
    }                                                                                  \
    static int id##_lock_entry(struct spinlock *lock)                                  \
    {                                                                                  \
        call;                                                                          \
        return 0;                                                                      \
    }                                                                                  \
    static int id##_trylock_entry(struct spinlock *lock)                               \
    {                                                                                  \
        return prefix##_trylock(lock) ? 0 : EBUSY;                                     \
    }                                                                                  \
    static int id##_unlock_entry(struct spinlock *lock)                                \
    {                                                                                  \
        prefix##_unlock(lock);                                                         \
        return 0;                                                                      \
    }
#include "spinlocks/spinlocks.def"
#undef SPINLOCK

const struct spinlock_descriptor spinlock_list[] = {
    {.about = {LISTED("glibc", "pthread", "system", "spin",
                      BYPASSES | LIGHT | TRYLOCK_HARDENED,
                      "the C library's own spin lock, untouched: the reference",
                      "GNU C Library",
                      "wastes whole time slices when there are more threads than CPUs"),
               .bytes = sizeof(struct spinlock)}},
#define SPINLOCK(id, title, prefix, call, kind, how, properties, ...)                  \
    {.about = {LISTED(title, "", kind, how, (properties) | LIGHT | TRYLOCK_HARDENED,   \
                      __VA_ARGS__),                                                    \
               .bytes = sizeof(struct spinlock)},                                      \
     .operations = {.init = id##_init_entry,                                           \
                    .lock = id##_lock_entry,                                           \
                    .trylock = id##_trylock_entry,                                     \
                    .unlock = id##_unlock_entry}},
#include "spinlocks/spinlocks.def"
#undef SPINLOCK
};

enum { LENGTH = sizeof spinlock_list / sizeof spinlock_list[0] };

const unsigned spinlock_list_length = LENGTH;
const unsigned spinlock_default = LENGTH - 1; /* the last one */

int spinlock_find(const char *name)
{
    for (int i = 0; i < (int)LENGTH; i++)
        if (lock_is_named(&spinlock_list[i].about, name))
            return i;
    return -1;
}
