/* SPDX-License-Identifier: MIT */
/* The record of a thread that elides locks. */
#ifndef HASP_ELISION_THREAD_H
#define HASP_ELISION_THREAD_H

#include "elision/counts.h"
#include "elision/policy.h"
#include "locks/lock.h"

struct elided;

enum { ELISION_LOCKS = ELISION_LEVELS };

struct elision_thread {
    struct elision_counts *counts;
    struct atomic_u32 *site;  /* the outermost section's, if a commit resets it */
    const struct lock *guard; /* P5: elides no other lock until this is released */
    uint32_t guarded;         /* acquisitions until the guard is dropped */
    uint8_t count;            /* of elided locks, in `locks` */
    uint8_t deepest;          /* highest `count` since the transaction began */
    uint8_t inner_count;      /* in `inner` */
    uint8_t failed;           /* attempts before this one */
    bool aborted;             /* emulation: the sections are no longer elided */
    uint32_t reading;         /* bit set: the places in `locks` of readers' sides */
    uint32_t sections;        /* since the transaction began */
    struct lock *locks[ELISION_LOCKS];
    const struct lock *outer; /* of the transaction */
    const struct elided *outer_as;
    const struct lock *alias; /* global mode: the mutex that the program locks */
    uintptr_t begun_at;       /* the instruction after the call that began it, or 0 */
    uint64_t entered, since;  /* ticks; see account.h. 0: not measured */
    const struct lock *inner[ELISION_LOCKS]; /* for the watcher: other locks elided */
    uint8_t inner_sides[ELISION_LOCKS];      /* enum elision_side */
};

_Static_assert(sizeof(struct elision_thread) <= HTM_THREAD_WORDS * sizeof(uint64_t),
               "fits into htm_thread()");

static inline struct elision_thread *elision_thread(void)
{
    return htm_thread();
}

/* The lock's place in the list is given up. */
static inline void elision_remove(struct elision_thread *me, unsigned place)
{
    const uint32_t before = (UINT32_C(1) << place) - 1;
    me->count--;
    for (unsigned i = place; i < me->count; i++)
        me->locks[i] = me->locks[i + 1];
    me->reading = (me->reading & before) | (me->reading >> 1 & ~before);
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
