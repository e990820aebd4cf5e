/* SPDX-License-Identifier: MIT */
/* Expands locks.def into the lists of descriptor.h. Compiled once per platform. */
#include "locks/list/lock_operations.h"
#include "locks/list/names.h"

/* Prefix of the name of a wrapped lock. */
#define WRAPPER "gcr+"

/* First comes the code of each lock. The size of a lock's state determines where the
 * wrapper keeps its own state. */
#define SPACE(in_place, each_waiter) (in_place) <= 12 ? GCR_IN_STATE : GCR_BY_ADDRESS
#define SPACE_OUTSIDE(in_place, each_waiter, outside, each_node)                       \
    (in_place) <= 12 ? GCR_IN_STATE : GCR_IN_DIRECTORY
#define LOCK(name, title, alias, prefix, argument, word, adoption, kind, how,          \
             properties, space, ...)                                                   \
    DEFINE_OPERATIONS(mutex_##name, prefix, word, adoption, argument)                  \
    DEFINE_RESTRICTED_OPERATIONS(mutex_##name, prefix, word, space, argument)
#include "locks/locks.def"
#undef LOCK
#undef SPACE
#undef SPACE_OUTSIDE

#define WITHOUT_BIAS(prefix, word)                                                     \
    DEFINE_OPERATIONS(prefix##_unbiased, prefix, word, ADOPT_REQUEUE, WITH(false))     \
    const struct lock_operations prefix##_unbiased_operations =                        \
        OPERATIONS(prefix##_unbiased, ADOPT_REQUEUE);
WITHOUT_BIAS(futex, OWN_WORD)
WITHOUT_BIAS(auto, OWN_KEPT_WORD)
#undef WITHOUT_BIAS

/* The data of each lock follows. */
#include "locks/list/properties.h"

const struct lock_descriptor lock_list[] = {
    {LISTED("glibc", "pthread", "system", "park", BYPASSES | PARKS | LIGHT,
            "the C library's own mutex, untouched: the reference", "GNU C Library",
            "")},
#define LOCK(id, title, alias, prefix, argument, word, adoption, kind, how,            \
             properties, space, ...)                                                   \
    {LISTED(title, alias, kind, how, properties, __VA_ARGS__),                         \
     .hands_word = (word) == HANDED_WORD, space,                                       \
     .operations = OPERATIONS(mutex_##id, adoption)},
#include "locks/locks.def"
#undef LOCK
};

enum { LENGTH = sizeof lock_list / sizeof lock_list[0] };
_Static_assert((int)LENGTH < (int)LOCK_SLOTS,
               "more locks than slots: raise LOCK_SLOTS in descriptor.h");
_Static_assert(2 * (int)LENGTH - 1 < (int)LOCK_SLOTS,
               "too few slots for the wrapped locks, gcr+NAME: raise LOCK_SLOTS in "
               "descriptor.h");

const unsigned lock_list_length = LENGTH;
const unsigned lock_default = LENGTH - 1; /* futex is last */

/* The same locks, wrapped by gcr.h, except for entry 0, which cannot be wrapped. */
static const struct {
    const char *name;
    struct lock_operations operations;
} restricted_list[] = {
#define LOCK(id, title, alias, prefix, argument, word, adoption, ...)                  \
    {WRAPPER title, RESTRICTED_OPERATIONS(mutex_##id, adoption)},
#include "locks/locks.def"
#undef LOCK
};

const unsigned lock_count = 2 * LENGTH - 1;

struct lock_descriptor lock_at(unsigned index)
{
    if (index < LENGTH)
        return lock_list[index];
    struct lock_descriptor wrapped = lock_list[index - LENGTH + 1];
    wrapped.name = restricted_list[index - LENGTH].name;
    wrapped.alias = "";
    wrapped.category = "load control";
    if (!wrapped.parks)
        wrapped.waiting = "restricted"; /* a few spin, the others sleep */
    wrapped.fifo = false;
    wrapped.bypasses = true;
    wrapped.bypass_bound = UINT32_MAX;
    wrapped.bypass_each = false;
    wrapped.light = false;
    wrapped.bytes = sizeof(((struct lock *)0)->state); /* all of it, including the last
                                                        * word */
    wrapped.waiter_bytes = sizeof(struct waiter);
    wrapped.outside_bytes += sizeof(struct side_block);
    wrapped.summary = "the lock, with few threads waiting in it and the others asleep";
    wrapped.source = "Dice and Kogan, EuroSys 2019";
    wrapped.caution = "";
    wrapped.operations = restricted_list[index - LENGTH].operations;
    return wrapped;
}

const struct lock_operations *lock_operations_at(unsigned index)
{
    return index < LENGTH ? &lock_list[index].operations
                          : &restricted_list[index - LENGTH].operations;
}

void destroy_nothing(struct lock *lock)
{
    (void)lock;
}

void destroy_directory(struct lock *lock)
{
    side_memory_free(&lock->state[3]);
}

int lock_find(const char *name)
{
    const char *wrapped = without_prefix(WRAPPER, name);
    if (wrapped) {
        int found = without_prefix(WRAPPER, wrapped) ? -1 : lock_find(wrapped);
        return found > 0 ? found + (int)LENGTH - 1 : -1;
    }
    for (int i = 0; i < (int)LENGTH; i++)
        if (lock_is_named(&lock_list[i], name))
            return i;
    return -1;
}
