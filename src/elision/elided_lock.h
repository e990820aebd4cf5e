/* SPDX-License-Identifier: MIT */
/* What elide.c asks of a lock, mutex or side of a rwlock. */
#ifndef HASP_ELISION_ELIDED_LOCK_H
#define HASP_ELISION_ELIDED_LOCK_H

#include "elision/elide.h"
#include "elision/thread.h"
#include "locks/memory/shown_word.h"

/* Returns the number of next acquisitions of the lock that do not elide it (P2). A
 * mutex has it in a field that otherwise only recursive ones use, which are never
 * elided. */
static inline struct atomic_u32 *skips_of(struct lock *lock, const struct elided *as)
{
    return (struct atomic_u32 *)(void *)((char *)lock + as->skips_at);
}

/* Returns whether a transaction may commit beside those that hold the lock. */
static inline bool is_free(const struct lock *lock, const struct elided *as)
{
    return unlikely(as->available != NULL) ? as->available(lock)
                                           : load_acquire(&lock->word) == 0;
}

/* E5. */
static inline bool has_owner(const struct lock *lock, const struct elided *as)
{
    return !as->available && unlikely(shown_word_needs_owner(lock));
}

/* Returns whether the lock is none that the thread elides, or both are for reading. */
static inline bool may_nest(const struct elision_thread *me, const struct lock *lock,
                            const struct elided *as)
{
    const int place = elision_place(me, lock);
    return place < 0 || (as->reads && me->reading >> place & 1);
}

#endif
