/* SPDX-License-Identifier: MIT */
/*
 * The state of a run: threads, cells with all their messages, plain memory, pools.
 *
 * MEMORY follows C11 in the operational form of views (O. Lahav, V. Vafeiadis, J. Kang,
 * C.-K. Hur, D. Dreyer, "Repairing sequential consistency in C/C++11", PLDI 2017; J.
 * Kang et al., "A promising semantics for relaxed-memory concurrency", POPL 2017,
 * without promises). A cell is the list of its messages in modification order. A
 * thread's view holds, for each cell, the oldest message that the thread may still
 * read; it may read that message or any later one. A release message carries its
 * writer's view, and an acquire read joins that view into the reader's. A
 * read-modify-write is attached to the message that it read.
 *
 * RACES. `knows` records, for each plain location, which accesses happen before the
 * thread's next step: KNOWS_WRITE for the latest write, bit t for the latest read by
 * thread t. Full fences order messages, but without a message between them they create
 * no happens-before, so they join `at` only.
 *
 * ORDERED CELLS. A cell whose accesses are all ordered by happens-before behaves like
 * plain memory: it has one value, and no other thread can observe when it is accessed.
 * Every cell is assumed to be ordered until a race on it is seen. Then it is marked as
 * contended and the search starts again. Cells that are never written are not tracked
 * at all.
 */
#ifndef HASP_EXPLORER_BASE_MODEL_H
#define HASP_EXPLORER_BASE_MODEL_H

#include "explorer/base/limits.h"
#include "explorer/base/request.h"

enum { KNOWS_WRITE = 0x80 };

enum { NO_VIEW = 0 };

struct view {
    uint8_t at[CELLS];
    uint8_t knows[PLAINS];
};

struct message {
    uint64_t value;
    uint8_t view;     /* index into model.views; NO_VIEW: the empty view */
    uint8_t attached; /* a read-modify-write of the previous message */
};

struct cell {
    uint16_t count; /* 0: only its initial message */
    struct message messages[MESSAGES];
};

struct read {
    uint32_t location, stale; /* stale: the location also had another value to read */
    uint64_t value;
};

/*
 * An iteration of a waiting loop. An iteration that only read, and ends in the state in
 * which it began, is redundant: the thread has only seen more, which leaves it fewer
 * continuations. The search prunes it, unless it read the newest values while all other
 * threads wait; those are kept so that deadlocks are reported. (Compare M.
 * Kokologiannakis, X. Ren, V. Vafeiadis, "Dynamic partial order reductions for
 * spinloops", FMCAD 2021.)
 */
struct iteration {
    uint64_t began;  /* digest of the thread's stack */
    uint16_t steps;  /* since the thread last waited */
    uint16_t writes; /* messages written */
    uint8_t idle;    /* only reads so far */
    uint8_t stale;   /* one of them did not return the newest value */
};

/* The thread's position in the block between two scheduling points; see steps.c. */
enum phase { PHASE_READING, PHASE_WRITING };

struct thread {
    struct request request;
    struct view view, pending; /* pending: from relaxed reads, joined at a fence */
    struct view released;      /* view at the thread's last fence */
    /* See barriers.h: positions at the last light barrier, and those that heavy
     * barriers have delivered for the next one. */
    uint8_t at_barrier[CELLS], delivered[CELLS];
    uint8_t phase, fenced, expired, spins, spurious_wakeups, node, in_child;
    uint8_t before;    /* bit set of threads that must start before this one */
    uint8_t unreached; /* bit set of threads whose heavy barrier has not reached it */
    uint8_t watched;   /* it was waiting at watch_waiters() and has not run since */
    uint8_t read_clock, read_deadline, reads;
    uint8_t transaction; /* inside one: no other thread runs until it ends */
    struct read read[READS];
    struct iteration iteration; /* not part of the state */
};

struct plain_state {
    uint8_t written, writer, readers;
};

struct pool_state {
    uint8_t carved, free_count[THREADS];
    uint8_t free[THREADS][SLOTS];
    uint8_t home[SLOTS], taken[SLOTS];
};

struct model {
    int running; /* the thread inside a block, or -1 */
    int last;    /* the thread that ran last, or -1 */
    uint8_t forced_exits, clock, generation, lock_destroyed;
    struct thread thread[THREADS];
    struct plain_state plain[PLAINS];
    struct pool_state pool[POOLS];
    uint8_t fenced_at[CELLS]; /* published by full fences */
    struct cell cells[CELLS];
    uint64_t view_used[VIEWS / 64]; /* bit set */
    struct view views[VIEWS];
};

extern struct model model;
extern uint64_t result; /* of the operation performed last; not part of the state */

/* Resets the state, except the contents of unused messages and views. `cells` is the
 * number of contended cells. */
void model_reset(unsigned cells);

bool is_live(int thread);    /* started or about to start, and not ended */
bool takes_part(int thread); /* live, and in the current process */

#endif
