/* SPDX-License-Identifier: MIT */
/*
 * The locks of the list, elided: "elide+" and the name of the lock. Their indexes
 * follow those of the list (lock_count).
 */
#ifndef HASP_ELISION_LIST_H
#define HASP_ELISION_LIST_H

#include "locks/list/descriptor.h"

/* Returns the end of the indexes: all below it are those of locks of the list or of
 * elided ones. */
unsigned elided_end(void);

/* Returns the index of a lock of the list or of an elided one, or -1. */
int elided_find(const char *name);

static inline bool is_elided(unsigned index)
{
    return index >= lock_count && index < elided_end();
}

/* Returns the index, in the list, of the lock that is elided. */
static inline unsigned elided_inner(unsigned index)
{
    return is_elided(index) ? index - lock_count + 1 : index;
}

/* As lock_at() and lock_operations_at(), also for elided locks. An elided lock calls
 * the operations that elided_use() has set. */
struct lock_descriptor elided_at(unsigned index);
const struct lock_operations *elided_operations_at(unsigned index);

/* Makes a lock of the list use these operations when it is elided. Without a call,
 * those of the list. */
void elided_use(unsigned inner, const struct lock_operations *operations);

#endif
