/* SPDX-License-Identifier: MIT */
/* The state of global mode, and its watchdog. Private to global.c and watchdog.c. */
#ifndef HASP_ELISION_GLOBAL_STATE_H
#define HASP_ELISION_GLOBAL_STATE_H

#include "elision/global.h"
#include "elision/thread.h"
#include "locks/waiting/policies.h"

enum scope { GLOBAL, CHANGING, FINE };
enum { HELD = 64 };

/* A thread. Transactions roll its record back. */
struct member {
    struct atomic_u32 busy;   /* G1 */
    struct atomic_u32 listed; /* mutexes in `held` */
    uint32_t depth;           /* mutexes that it holds */
    bool acquired;            /* the one lock, which its last unlock releases */
    struct atomic_u64 held[HELD];
};

_Static_assert(sizeof(struct elision_thread) + sizeof(struct member) <=
                   HTM_THREAD_WORDS * sizeof(uint64_t),
               "both fit into htm_thread()");

/* See global.h. */
struct global_state {
    struct lock lock __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 scope __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 later; /* sections after the change */
    struct atomic_u64 culprit; /* the record of the thread that made the mode end */
    struct atomic_u64 holder __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 stints; /* acquisitions so far */
    const struct lock_operations *base; /* the algorithm */
    const char *base_name;
};

extern struct global_state global __attribute__((visibility("hidden")));

static inline enum scope scope_now(void)
{
    return (enum scope)load_acquire(&global.scope);
}

/* Waits for the end of the change (G2). */
static inline void wait_for_change(void)
{
    struct spinner spinner = {0, 0};
    while (scope_now() == CHANGING)
        spinner_spin(&spinner, NULL);
}

static inline struct lock *held_at(const struct member *me, uint32_t place)
{
    return (struct lock *)(uintptr_t)load_relaxed(&me->held[place]);
}

/* Returns the place of the mutex in the list, or -1. The record may be that of another
 * thread, which changes it. */
static inline int place_of(const struct member *me, const struct lock *lock)
{
    for (uint32_t i = load_acquire(&me->listed); i-- > 0;)
        if (held_at(me, i) == lock)
            return (int)i;
    return -1;
}

static inline struct member *global_culprit(void)
{
    return (struct member *)(uintptr_t)load_relaxed(&global.culprit);
}

/* Waits for the one lock in slices, so that the caller sees the end of the mode.
 * Returns 0, or ELISION_GAVE_UP (then without the lock). */
int global_wait(struct lock *lock);

/* The caller locks a mutex that it holds, so it waits for ever, as POSIX says; unless
 * another thread unlocks it, which ends the mode. Returns false after the deadline. */
bool global_wait_for_itself(const struct deadline *deadline);

/* Returns the deadline of a slice that begins now. */
struct deadline global_slice(void);

/* Ends the mode for the process, and prints the reason. */
void global_end(const char *reason);

/* Returns whether the holder has locked the mutex. It may be changing its list, so the
 * answer may be wrong; then the mode ends without need. */
bool global_is_holders(const struct lock *lock);

/* Called at the end of the section that made the mode end: prints whether it may have
 * waited for other sections. */
void global_judge_culprit(void);

#endif
