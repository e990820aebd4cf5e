/* SPDX-License-Identifier: MIT */
/* Expands rwlocks.def into the list of descriptor.h. Compiled once per platform. */
#include "locks/list/names.h"
#include "locks/list/properties.h"
#include "rwlocks/list/rwlock_operations.h"

#define RWLOCK(name, title, alias, prefix, argument, ...)                              \
    DEFINE_RWLOCK_OPERATIONS(name, prefix, argument)
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
_Static_assert((int)LENGTH < (int)RWLOCK_SLOTS, "too few slots: raise RWLOCK_SLOTS");

const unsigned rwlock_list_length = LENGTH;
const unsigned rwlock_count = LENGTH;
const unsigned rwlock_default = LENGTH - 1; /* the last one */

struct rwlock_descriptor rwlock_at(unsigned index)
{
    return rwlock_list[index];
}

int rwlock_find(const char *name)
{
    for (int i = 0; i < (int)LENGTH; i++)
        if (same_name(rwlock_list[i].about.name, name) ||
            (rwlock_list[i].about.alias[0] &&
             same_name(rwlock_list[i].about.alias, name)))
            return i;
    return -1;
}
