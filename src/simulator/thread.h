/* SPDX-License-Identifier: MIT */
/*
 * Simulated threads are coroutines. The running thread may be ahead of queued events:
 * its operations take effect at its own time `now`, so it has earlier events handled
 * (catch_up) before it touches memory. Nothing else is simulated while it runs.
 */
#ifndef HASP_SIMULATOR_THREAD_H
#define HASP_SIMULATOR_THREAD_H

#include "simulator/events.h"
#include "simulator/simulator.h"

enum { THREADS_MAX = CPUS_MAX, STACK_BYTES = 64 << 10 };
/* From this many threads on, the simulator spares the host's caches and TLB. */
enum { MANY_THREADS = 256 };
enum { STORES_MAX = 64, WATCHES_MAX = 32, MISSES_MAX = 32 };

enum thread_state {
    THREAD_RUNS,    /* or an EVENT_RESUME is queued for it */
    THREAD_STORES,  /* waits for space in its store buffer */
    THREAD_DRAINS,  /* waits until its store buffer is empty */
    THREAD_WATCHES, /* waits for a line to change */
    THREAD_PARKED,
    THREAD_ENDED,
};

/* An entry of a store buffer. */
struct store {
    void *address;
    uint64_t value;
    uint32_t line;
    uint32_t size;
};

/* What a thread has read from a cell since it last waited. */
struct watch {
    uint64_t value;
    uint32_t epoch; /* of the line */
    uint32_t size;
};

/* While the thread waits, an entry in the list of watchers of the cell's line. */
struct watcher {
    uint64_t arrives;        /* when the requested line arrives; 0: none requested */
    uint32_t next, previous; /* watchers of the line; see watching.h */
};

/* Members that each wait and each store touch come first: with a thousand threads, a
 * record has always left the host's near caches before its thread runs again. */
struct thread {
    uint64_t now;
    void *stack;     /* saved stack pointer while it does not run */
    void *stack_end; /* upper end of the stack */
    uint16_t index, cpu, core, place;
    uint8_t state;

    /* Store buffer, in order. */
    uint8_t stores_first, stores;
    bool store_requested; /* the oldest store had to request its line */

    /* Since the last relax(). */
    uint8_t watch_count;
    bool changes;   /* it also writes what it waits for: an exchange, a prefetch */
    bool forwarded; /* it has read a buffered store of its own */
    bool unsettled; /* it has read two values of one cell */
    bool read_clock;

    bool timed_out;
    bool expects_wait; /* it had to wait for the last lock on a slow path */
    bool in_transaction;
    bool doomed; /* continues where its transaction began */

    /* Waiting. */
    uint16_t sleepers_next;
    uint64_t since;          /* when it began to watch or park */
    uint64_t yields_at;      /* its first yield while it watches; 0: it never yields */
    uint32_t yield_cycles;   /* from the beginning of a yield until it spins again */
    uint32_t reload_cycles;  /* the last of them, when it has read its cells again */
    uint64_t yields_every;   /* cycles between the beginnings of two yields */
    uint64_t timeout_at;     /* UINT64_MAX: never */
    uint64_t timeout_due;    /* when the next EVENT_TIMEOUT is queued */
    uint64_t pausing, parked; /* cycles */
    uint64_t cold;           /* added to the next access, after a long pause */
    const void *parked_on;   /* NULL from the wake-up call on */
    const void *slept_on;
    /* One of the cells that it last waited for; size 0: none. */
    uint32_t waited_cell, waited_size;
    uint32_t issued; /* thousandths of a cycle that `now` lacks */

    uint32_t cell[WATCHES_MAX]; /* that it watches: numbers, see memory.h */
    struct watch watch[WATCHES_MAX];
    struct watcher watcher[WATCHES_MAX];
    struct store store[STORES_MAX];
    uint64_t misses[MISSES_MAX]; /* when accesses that began ahead end */

    uint32_t doom_status; /* why it is doomed */
    uint64_t started;     /* time */
    void (*body)(unsigned index, void *argument);
    void *argument;
} __attribute__((aligned(64)));

extern struct thread *running; /* NULL outside workers */
extern struct thread *thread_table;
extern uint16_t core_of_thread[]; /* copies of thread->core, dense for prefetching */
extern unsigned thread_count;

/* Makes the table ready for that many threads. */
void threads_prepare(unsigned count);

/* The simulated time outside workers, which is when the last worker ended, and the time
 * at which the present workers started. */
extern uint64_t time_outside, run_started;

/* The time at which memory last changed, or a later time by which a thread is certain
 * to continue. See deadlock.h. */
extern uint64_t progress_at;

/* Returns what stands for a thread's thread-local memory: two lines. */
const void *thread_local_memory(unsigned index);

/* The thread whose watch has that number: thread * WATCHES_MAX + index + 1. */
static inline struct thread *thread_of_watch(uint32_t number)
{
    return &thread_table[(number - 1) / WATCHES_MAX];
}

static inline void resume_at(struct thread *thread, uint64_t time)
{
    thread->state = THREAD_RUNS;
    event_push(time, EVENT_RESUME, thread->index);
}

/* A watching thread's position in its cycle of spinning and yielding. */
struct yielding {
    uint64_t spent;    /* cycles in all its yields until now */
    uint64_t spinning; /* cycles since the last one, or since it began to watch */
    uint64_t left;     /* cycles until it reads its cells after a yield; 0: it spins */
};
struct yielding yielding_of(const struct thread *thread, uint64_t time);

/* The time of its next yield after `time`. */
uint64_t next_yield(const struct thread *thread, uint64_t time);

/* Sets the time of the thread's only timeout; UINT64_MAX: none. */
void set_timeout(struct thread *thread, uint64_t time);

/* Cells on a thread's own stack are private. They are written at once: a buffered store
 * could outlive the stack frame. */
static inline bool on_own_stack(const struct thread *self, const void *address)
{
    return (uintptr_t)self->stack_end - (uintptr_t)address <= STACK_BYTES;
}

#endif
