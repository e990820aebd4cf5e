/* SPDX-License-Identifier: MIT */
/* The latest timed holds of a thread that the sampler watches. */
#ifndef HASP_PROFILER_THREADS_HOLD_LOG_H
#define HASP_PROFILER_THREADS_HOLD_LOG_H

#include "profiler/threads/recordings.h"

enum { HOLD_LOG_HOLDS = 255 }; /* the first ones; later ones are not kept */

struct hold_log {
    struct atomic_u32 active;
    struct atomic_u32 used;
    struct logged_hold {
        uint64_t got, released; /* ticks */
        uint32_t lock;
    } hold[HOLD_LOG_HOLDS];
};

/* The next three are the sampler's. Starts an empty log; false without memory. */
bool hold_log_begin(struct recording *thread);
void hold_log_end(struct recording *thread);
/* Returns whether a logged hold of the lock contains the time. */
bool hold_log_contains(const struct recording *thread, uint32_t lock, uint64_t time);

/* Adds a hold of the calling thread. */
void hold_log_write(struct hold_log *log, uint32_t lock, uint64_t got,
                    uint64_t released);

/* Returns whether the thread is being watched. */
static inline bool hold_log_is_active(const struct recording *me)
{
    return unlikely(me->log != NULL) && load_relaxed(&me->log->active);
}

/* Adds a hold if the thread is being watched. */
static inline void hold_log_add(const struct recording *me, uint32_t lock, uint64_t got,
                                uint64_t released)
{
    if (hold_log_is_active(me))
        hold_log_write(me->log, lock, got, released);
}

#endif
