/* SPDX-License-Identifier: MIT */
/* What a thread remembers about the locks that it elides. */
#ifndef HASP_ELISION_THREAD_H
#define HASP_ELISION_THREAD_H

#include "elision/counts.h"
#include "elision/policy.h"
#include "locks/lock.h"

enum { ELISION_LOCKS = ELISION_LEVELS };

struct elision_thread {
    struct elision_counts *counts;
    struct atomic_u32 *site;  /* of the outermost section, if a commit resets its
                               * record */
    const struct lock *guard; /* P5: elides no other lock until this is released */
    uint32_t guarded;         /* acquisitions until it forgets the guard */
    uint8_t count;            /* of locks in the list */
    uint8_t deepest;          /* since the transaction began */
    uint8_t failed;           /* attempts before this one */
    bool aborted;             /* emulation: the sections are no longer elided */
    struct lock *locks[ELISION_LOCKS];
};

_Static_assert(sizeof(struct elision_thread) <= HTM_THREAD_WORDS * sizeof(uint64_t),
               "fits into htm_thread()");

static inline struct elision_thread *elision_thread(void)
{
    return htm_thread();
}

/* Returns the lock's place in the list, or -1. */
static inline int elision_place(const struct elision_thread *me,
                                const struct lock *lock)
{
    for (int i = me->count; i-- > 0;)
        if (me->locks[i] == lock)
            return i;
    return -1;
}

#endif
