/* SPDX-License-Identifier: MIT */
/* Expands rwlocks.def into the list of descriptor.h. Compiled once per platform. */
#include "locks/list/names.h"
#include "locks/list/properties.h"
#include "rwlocks/list/bravo_operations.h"

#define RWLOCK(name, title, alias, prefix, argument, ...)                              \
    DEFINE_RWLOCK_OPERATIONS(name, prefix, argument)                                   \
    DEFINE_BRAVO_OPERATIONS(name, prefix, argument)
#include "rwlocks/rwlocks.def"
#undef RWLOCK

static const struct rwlock_descriptor rwlock_list[] = {
    {.about = {.name = "glibc",
               .alias = "pthread",
               .category = "system",
               .waiting = "park",
               .bypasses = true,
               .bypass_bound = UINT32_MAX,
               .parks = true,
               .light = true,
               .summary = "the C library's own rwlock, untouched: the reference",
               .source = "GNU C Library",
               .caution = "starves writers, unless the kind of the lock prefers them"}},
#define RWLOCK(id, title, study_name, prefix, argument, kind, how, properties, space,  \
               words, paper, warning)                                                  \
    {.about = {.name = title,                                                          \
               .alias = study_name,                                                    \
               .category = kind,                                                       \
               .waiting = how,                                                         \
               LISTED_PROPERTIES(properties),                                          \
               space,                                                                  \
               .summary = words,                                                       \
               .source = paper,                                                        \
               .caution = warning},                                                    \
     .operations = RWLOCK_OPERATIONS(id)},
#include "rwlocks/rwlocks.def"
#undef RWLOCK
};

enum { LENGTH = sizeof rwlock_list / sizeof rwlock_list[0] };

/* The same locks, wrapped by bravo.h, except for entry 0. */
static const struct {
    const char *name;
    struct rwlock_operations operations;
} bravo_list[] = {
#define RWLOCK(id, title, ...) {"bravo+" title, BRAVO_OPERATIONS(id)},
#include "rwlocks/rwlocks.def"
#undef RWLOCK
};

enum { COUNT = 2 * LENGTH - 1 };
_Static_assert((int)COUNT < (int)RWLOCK_SLOTS, "too few slots: raise RWLOCK_SLOTS");

const unsigned rwlock_list_length = LENGTH;
const unsigned rwlock_count = COUNT;
const unsigned rwlock_default = COUNT - 1; /* bravo+ before the last one */

static struct rwlock_descriptor bravo_at(unsigned index)
{
    struct rwlock_descriptor wrapped = rwlock_list[index - LENGTH + 1];
    wrapped.about.name = bravo_list[index - LENGTH].name;
    wrapped.about.alias = "";
    wrapped.about.bytes += 8;
    wrapped.about.summary = "the lock, whose readers enter without writing to it";
    wrapped.about.source = "Dice and Kogan, USENIX ATC 2019";
    wrapped.operations = bravo_list[index - LENGTH].operations;
    return wrapped;
}

struct rwlock_descriptor rwlock_at(unsigned index)
{
    return index < LENGTH ? rwlock_list[index] : bravo_at(index);
}

int rwlock_find(const char *name)
{
    for (int i = 0; i < (int)LENGTH; i++)
        if (same_name(rwlock_list[i].about.name, name) ||
            (rwlock_list[i].about.alias[0] &&
             same_name(rwlock_list[i].about.alias, name)))
            return i;
    for (int i = (int)LENGTH; i < (int)COUNT; i++)
        if (same_name(bravo_list[i - LENGTH].name, name))
            return i;
    return -1;
}
