/* SPDX-License-Identifier: MIT */
/*
 * Reader-writer locks that can be elided: "elide+" and the name. Their indexes follow
 * those of the list (rwlock_count()).
 *
 * These are the locks of which a few loads tell whether a reader or a writer could
 * enter, and in which everyone who enters writes what was loaded by an atomic operation
 * (E6 in elide.h). In the others, readers are counted in several places, or enter
 * without writing to the lock at all.
 */
#ifndef HASP_ELISION_RWLOCK_LIST_H
#define HASP_ELISION_RWLOCK_LIST_H

#include "rwlocks/list/descriptor.h"

unsigned elided_rwlock_end(void);

/* Returns the index of a rwlock of the list or of an elided one, or -1. */
int elided_rwlock_find(const char *name);

static inline bool is_elided_rwlock(unsigned index)
{
    return index >= rwlock_count() && index < elided_rwlock_end();
}

/* Returns the index, in the list, of the rwlock that is elided. */
unsigned elided_rwlock_inner(unsigned index);

/* As rwlock_at(), also for elided ones. */
struct rwlock_descriptor elided_rwlock_at(unsigned index);

#endif
