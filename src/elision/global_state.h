/* SPDX-License-Identifier: MIT */
/* The state of global mode, and its watchdog. Private to global.c and watchdog.c. */
#ifndef HASP_ELISION_GLOBAL_STATE_H
#define HASP_ELISION_GLOBAL_STATE_H

#include "elision/global.h"
#include "platform/platform.h"

enum scope { GLOBAL, CHANGING, FINE };
enum { HELD = 64 };

/* A thread. Transactions roll its record back. */
struct member {
    struct atomic_u32 busy; /* G1 */
    uint32_t depth;         /* mutexes that it holds */
    uint32_t listed;        /* of these, in `held` */
    struct lock *held[HELD];
    bool acquired; /* the one lock, which its last unlock releases */
};

/* See global.h. */
struct global_state {
    struct lock lock __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 scope __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 later; /* sections after the change */
    struct member *culprit;  /* the thread whose section made the mode end */
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

/* Returns the place of the mutex in the list, or -1. */
static inline int place_of(const struct member *me, const struct lock *lock)
{
    for (uint32_t i = me->listed; i-- > 0;)
        if (me->held[i] == lock)
            return (int)i;
    return -1;
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
