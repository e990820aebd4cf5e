/* SPDX-License-Identifier: MIT */
/* The course of a wait for other threads, which may end without a word: until when to
 * sleep, and when to check that they still exist. */
#ifndef HASP_STRUCTURES_CHANNEL_WAITING_H
#define HASP_STRUCTURES_CHANNEL_WAITING_H

#include <errno.h>
#include <string.h>

#include "locks/waiting/policies.h"

enum { LOOK_FIRST_NS = 5000000, LOOK_LAST_NS = 320000000 };

/* The course of one wait. */
struct wait {
    const struct deadline *deadline;
    struct deadline look;         /* when to check the others, or `deadline` */
    const struct deadline *until; /* `look`, or NULL if no thread can die alone */
    long look_ns;
    struct spinner spinner;
};

/* Both are by the same clock. */
static inline bool is_earlier(const struct deadline *a, const struct deadline *b)
{
    return a->at.tv_sec < b->at.tv_sec ||
           (a->at.tv_sec == b->at.tv_sec && a->at.tv_nsec < b->at.tv_nsec);
}

static inline void wait_set_look(struct wait *wait)
{
    wait->until = wait->deadline;
    if (!threads_can_die())
        return;
    wait->until = &wait->look;
    wait->look =
        deadline_after_by(wait->deadline ? wait->deadline->clock : CLOCK_MONOTONIC,
                          (uint64_t)wait->look_ns);
    if (wait->deadline && is_earlier(wait->deadline, &wait->look))
        wait->look = *wait->deadline;
    if (wait->look_ns < LOOK_LAST_NS)
        wait->look_ns *= 2;
}

static inline bool is_time(const struct deadline *deadline)
{
    return (deadline->clock == CLOCK_MONOTONIC || deadline->clock == CLOCK_REALTIME) &&
           deadline->at.tv_nsec >= 0 && deadline->at.tv_nsec < 1000000000;
}

/* Returns false if the deadline is not a time. */
static inline bool wait_begins(struct wait *wait, const struct deadline *deadline)
{
    if (deadline && !is_time(deadline))
        return false;
    memset((void *)wait, 0, sizeof *wait);
    wait->deadline = deadline;
    wait->look_ns = LOOK_FIRST_NS;
    wait_set_look(wait);
    return true;
}

/* Sleeps. Returns false if it is time to check the others. */
static inline bool wait_parks(const struct wait *wait, bool shared,
                              struct atomic_u32 *bell, uint32_t seen)
{
    return shared ? park_shared(bell, seen, wait->until)
                  : park(bell, seen, wait->until);
}

/* Returns false if the caller's deadline has passed. */
static inline bool wait_goes_on(struct wait *wait)
{
    if (wait->deadline && deadline_passed(wait->deadline))
        return false;
    wait_set_look(wait);
    return true;
}

/* What a thread waits for. */
struct awaited {
    void *self;
    bool parks;            /* the thread sleeps; otherwise it spins */
    int (*look)(void *self); /* 0: it is there, EPIPE: it will never be, or EAGAIN */
    bool (*sleeps)(void *self, struct wait *wait); /* returns as wait_parks() */
    bool (*is_lost)(void *self); /* somebody without whom it will never be has ended */
};

/* Waits, after the caller has spun. Returns 0, EPIPE, EOWNERDEAD, ETIMEDOUT, or EINVAL
 * if the deadline is not a time. */
static inline int wait_for(const struct awaited *awaited,
                           const struct deadline *deadline)
{
    struct wait wait;
    if (!wait_begins(&wait, deadline))
        return EINVAL;
    for (;;) {
        bool goes_on = awaited->parks ? awaited->sleeps(awaited->self, &wait)
                                      : spinner_spin(&wait.spinner, wait.until);
        bool lost = !goes_on && awaited->is_lost(awaited->self);
        bool late = !goes_on && !lost && !wait_goes_on(&wait);
        int result = awaited->look(awaited->self); /* it may have come meanwhile */
        if (result != EAGAIN)
            return result;
        if (lost || late)
            return lost ? EOWNERDEAD : ETIMEDOUT;
    }
}

#endif
