/* SPDX-License-Identifier: MIT */
/* Expands rwlocks.def into the list of descriptor.h. Compiled once per platform. */
#include "locks/list/names.h"
#include "locks/list/properties.h"
#include "rwlocks/algorithms/rw_mutex.h"
#include "rwlocks/list/bravo_operations.h"

#include <string.h>

#define MUTEX_PREFIX "mutex:"

#define RWLOCK(name, title, alias, prefix, argument, ...)                              \
    DEFINE_RWLOCK_OPERATIONS(name, prefix, argument)                                   \
    DEFINE_BRAVO_OPERATIONS(name, prefix, argument)
#include "rwlocks/rwlocks.def"
#undef RWLOCK

unsigned rwlock_default_slot;

/* All of mutex:LOCK share one set of functions. */
enum { MUTEX_COUNT_MOST = 64 };
static unsigned mutex_of(const struct rwlock *lock);
DEFINE_RWLOCK_OPERATIONS(rw_mutex, rw_mutex, WITH(mutex_of(lock)))

static const struct rwlock_descriptor rwlock_list[] = {
    {.about = {LISTED("glibc", "pthread", "system", "park", BYPASSES | PARKS | LIGHT,
                      "the C library's own rwlock, untouched: the reference",
                      "GNU C Library",
                      "starves writers, unless the kind of the lock prefers them")}},
#define RWLOCK(id, title, alias, prefix, argument, kind, how, properties, space, ...)  \
    {.about = {LISTED(title, alias, kind, how, properties, __VA_ARGS__), space},       \
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

/* From this index on, the entries are mutex:LOCK, in the order of locks.def. */
enum { MUTEXES = 2 * LENGTH - 1 };
_Static_assert((int)MUTEXES + (int)MUTEX_COUNT_MOST < (int)RWLOCK_SLOTS,
               "too few slots: raise RWLOCK_SLOTS");

const unsigned rwlock_list_length = LENGTH;
const unsigned rwlock_default = MUTEXES - 1; /* bravo+ before the last one */

unsigned rwlock_count(void)
{
    return (unsigned)MUTEXES + lock_list_length - 1;
}

/* Returns the index in locks.def of the mutex of which the rwlock is made. The rwlock
 * stores its slot, which is the index in this list plus one. */
static unsigned mutex_of(const struct rwlock *lock)
{
    unsigned slot = load_relaxed(&lock->algorithm);
    return (slot ? slot : rwlock_default_slot) - MUTEXES;
}

static struct rwlock_descriptor mutex_at(unsigned index)
{
    static char names[MUTEX_COUNT_MOST][40];
    char *name = names[index - MUTEXES];
    struct rwlock_descriptor made = {
        .about = lock_list[index - MUTEXES + 1],
        .operations = RWLOCK_OPERATIONS(rw_mutex),
    };
    if (!name[0]) {
        strcpy(name, MUTEX_PREFIX);
        strncat(name, made.about.name, sizeof names[0] - sizeof MUTEX_PREFIX);
    }
    made.about.name = name;
    made.about.alias = "";
    made.about.category = "mutex";
    made.about.bytes = 8;
    made.about.outside_bytes += sizeof(struct side_block);
    made.about.summary = "the mutex, which readers take, too";
    return made;
}

static struct rwlock_descriptor bravo_at(unsigned index)
{
    struct rwlock_descriptor wrapped = rwlock_list[index - LENGTH + 1];
    wrapped.about.name = bravo_list[index - LENGTH].name;
    wrapped.about.alias = "";
    wrapped.about.bytes += 8;
    wrapped.about.summary = "its readers enter without writing to the lock";
    wrapped.about.source = "Dice and Kogan, USENIX ATC 2019";
    wrapped.operations = bravo_list[index - LENGTH].operations;
    return wrapped;
}

struct rwlock_descriptor rwlock_at(unsigned index)
{
    return index < LENGTH    ? rwlock_list[index]
           : index < MUTEXES ? bravo_at(index)
                             : mutex_at(index);
}

int rwlock_find(const char *name)
{
    const char *mutex = without_prefix(MUTEX_PREFIX, name);
    int found = mutex ? lock_find(mutex) : 0;
    if (mutex)
        return found > 0 && found < (int)lock_list_length ? MUTEXES + found - 1 : -1;
    for (int i = 0; i < (int)LENGTH; i++)
        if (lock_is_named(&rwlock_list[i].about, name))
            return i;
    for (int i = (int)LENGTH; i < (int)MUTEXES; i++)
        if (same_name(bravo_list[i - LENGTH].name, name))
            return i;
    return -1;
}
