/* SPDX-License-Identifier: MIT */
/* Misuse of locks, as the trace records it. Include trace.h instead. */
#ifndef HASP_PROFILER_TRACE_EVENTS_H
#define HASP_PROFILER_TRACE_EVENTS_H

#include <stdint.h>

enum trace_event_kind {
    TRACE_SELF_DEADLOCK = 1, /* locks a non-recursive lock that it already holds */
    TRACE_FOREIGN_UNLOCK,    /* unlocked by a thread that does not hold it */
    TRACE_UNLOCK_REFUSED,    /* the same, refused with EPERM */
    TRACE_DESTROYED_HELD,
    TRACE_INITIALISED_HELD, /* initialised again, or its memory reused, while held */
    TRACE_EXITED_HOLDING,   /* the holder's thread ended */
    TRACE_HELD_AT_EXIT,     /* the process ended */
    TRACE_DESTROYED_WAITED, /* destroyed while threads wait */
    TRACE_RELOCK_REFUSED,   /* the holder locks it again: EDEADLK */
};

struct trace_event {
    uint64_t ticks;
    uint32_t kind;
    uint32_t thread;
    uint32_t lock;
    uint32_t other; /* the thread that holds the lock, where known */
    uint32_t stack;
    uint32_t count; /* identical events are counted, not repeated */
};

#endif
