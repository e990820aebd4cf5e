/* SPDX-License-Identifier: MIT */
/*
 * Simulated threads. The one that runs is ahead of all events: what it does takes
 * effect at its own time `now`, so before it touches memory it lets everything happen
 * that comes earlier (catch_up). Nothing else is simulated while it runs.
 */
#ifndef HASP_SIMULATOR_THREAD_H
#define HASP_SIMULATOR_THREAD_H

#include "simulator/events.h"
#include "simulator/simulator.h"

enum { THREADS_MAX = CPUS_MAX, STACK_BYTES = 64 << 10 };
enum { STORES_MAX = 64, SIGHTS_MAX = 32 };

enum thread_state {
    THREAD_RUNS,    /* or its next step is decided */
    THREAD_STORES,  /* until its store buffer has room */
    THREAD_DRAINS,  /* until its store buffer is empty */
    THREAD_WATCHES, /* until a line changes */
    THREAD_PARKED,
    THREAD_ENDED,
};

/* A store on its way. */
struct store {
    void *address;
    uint64_t value;
    uint32_t line;
    uint32_t size;
};

/* What a thread has seen of a cell since it last waited. While it waits, it watches the
 * cell's line, among that line's other watchers. */
struct sight {
    const void *address;
    uint64_t value;
    uint32_t size, line;
    uint32_t epoch;          /* of the line, when it was read */
    uint32_t next, previous; /* watchers of the line; see watching.h */
    uint64_t arrives;        /* the line is on its way; 0: it is not */
};

struct thread {
    uint64_t now;
    void *stack;     /* where it is not running */
    void *stack_end; /* its upper end */
    uint16_t index, cpu, core, place;
    uint8_t state;

    /* Store buffer, in order. */
    uint8_t stores_first, stores;
    bool store_requested; /* the oldest one's line was not here */
    struct store store[STORES_MAX];

    /* Since the last relax(). */
    uint8_t sights;
    bool changes;   /* it also writes what it waits for: an exchange, a prefetch */
    bool forwarded; /* it saw a store of its own that is not in memory yet */
    bool unsettled; /* it saw two values of one cell: the first one may be stale */
    bool asked_clock;
    struct sight sight[SIGHTS_MAX];

    /* Waiting. */
    uint64_t since;          /* watching or parked */
    struct sight waited_for; /* one of those that it waited for last */
    uint64_t timeout_at;     /* UINT64_MAX: never */
    uint64_t timeout_due;    /* when the next EVENT_TIMEOUT comes */
    const void *parked_on;
    bool timed_out;
    uint16_t sleepers_next;

    uint64_t started, pausing, parked; /* when, and cycles spent so */

    bool in_transaction;
    bool doomed;          /* continues where its transaction began */
    uint32_t doom_status; /* why */

    uint64_t cold; /* what the next access costs more, after a long pause */

    void (*body)(unsigned index, void *argument);
    void *argument;
};

extern struct thread *running; /* NULL outside of workers */
extern struct thread thread_table[THREADS_MAX];
extern unsigned thread_count;

/* The simulated time outside of workers: when the last one ended. And when the workers
 * started that run now. */
extern uint64_t time_outside, run_started;

/* When memory changed last, or a later time at which something is certain to happen.
 * See deadlock.h. */
extern uint64_t progress_at;

static inline void resume_at(struct thread *thread, uint64_t time)
{
    thread->state = THREAD_RUNS;
    event_push(time, EVENT_RESUME, thread->index);
}

/* An EVENT_TIMEOUT at this time, unless set anew; UINT64_MAX: none. */
void set_timeout(struct thread *thread, uint64_t time);

/* What lies on its own stack is the thread's alone. It is written at once: in a store
 * buffer it would outlive the function that it belongs to. */
static inline bool on_own_stack(const struct thread *self, const void *address)
{
    return (uintptr_t)self->stack_end - (uintptr_t)address <= STACK_BYTES;
}

#endif
