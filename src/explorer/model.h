/* SPDX-License-Identifier: MIT */
/*
 * The state of a run: threads, cells with all their messages, plain memory, sleepers.
 *
 * MEMORY is C11's, in the operational form of views (O. Lahav, V. Vafeiadis, J. Kang,
 * C.-K. Hur, D. Dreyer, "Repairing sequential consistency in C/C++11", PLDI 2017; J.
 * Kang et al., "A promising semantics for relaxed-memory concurrency", POPL 2017,
 * without promises). A cell is the list of its messages in modification order. A
 * thread's view says for each cell which message it has seen at least; it may read that
 * one or any later one. A release message carries its writer's view, an acquire read
 * joins it into the reader's. A read-modify-write is attached to the message it read.
 *
 * RACES. `knows` holds for each plain address what the thread knows through
 * happens-before: KNOWS_WRITE, the latest write; bit t, thread t's latest read. Full
 * fences order messages but, without a message between them, give no happens-before:
 * they join `at` only.
 */
#ifndef HASP_EXPLORER_MODEL_H
#define HASP_EXPLORER_MODEL_H

#include "platform/platform.h"

#include <stddef.h>

enum {
    THREADS = 5, /* the last one is the client's finish(), after all others */
    FINISHER = THREADS - 1,
    CELLS = 1536,
    PLAINS = 256,
    MESSAGES = 24, /* of a cell that some thread may still read */
    VIEWS = 192,
    INDEX = 4096, /* places, a power of two */
    READS = 24,
    SLOTS = 48, /* of a pool */
    POOLS = 2,
    NO_VIEW = 0,
};

enum { KNOWS_WRITE = 0x80 };

struct view {
    uint8_t at[CELLS];
    uint8_t knows[PLAINS];
};

struct message {
    uint64_t value;
    uint8_t view;     /* index of model.views, NO_VIEW for the empty one */
    uint8_t attached; /* read-modify-write of the message before it */
};

struct cell {
    uint16_t count; /* 0: nothing but its initial message */
    struct message messages[MESSAGES];
};

enum operation {
    OP_NONE,
    OP_START,
    OP_LOAD,
    OP_STORE,
    OP_CHANGE,
    OP_COMPARE,
    OP_FENCE,
    OP_HEAVY,
    OP_RELAX,
    OP_DEADLINE,
    OP_PARK,
    OP_ASLEEP, /* has parked: waits for a wake-up */
    OP_WOKEN,
    OP_UNPARK,
    OP_REQUEUE,
    OP_CHOOSE,
    OP_FORK,
    OP_DONE,
    /* in trails only */
    OP_READ,
    OP_WRITE,
    OP_TAKE,
    OP_GIVE,
    OP_NOTE,
};

struct request {
    uint8_t operation, order, change, deadline;
    uint16_t cell, other;
    uint64_t operand, expected;
    const char *function, *text;
};

struct read {
    uint64_t cell, value;
};

/* Where a thread stands between two scheduling points; see may_go_on() in search.c. */
enum phase { PHASE_READING, PHASE_WRITING };

struct thread {
    struct request request;
    struct view view, pending; /* pending: seen by relaxed reads, until a fence */
    struct view released;      /* at its last fence */
    uint8_t phase, fenced, struck, spins, naps, node, in_child;
    uint8_t read_clock, read_deadline, reads;
    struct read read[READS];
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
    int running; /* in the middle of a step, or -1 */
    int last;    /* that ran, or -1 */
    uint8_t kicks, clock, generation, gone;
    struct thread thread[THREADS];
    struct plain_state plain[PLAINS];
    struct pool_state pool[POOLS];
    uint8_t fenced_at[CELLS]; /* what full fences have published */
    struct cell cells[CELLS];
    uint8_t view_used[VIEWS];
    struct view views[VIEWS];
};

extern struct model model;

/* What is known for all runs of a search, by first touch. Not part of the state. */
struct known {
    unsigned cells, plains;
    uint16_t index[INDEX]; /* of cells by address */
    struct {
        const void *address;
        unsigned size;
        uint64_t initial;
    } cell[CELLS];
    struct {
        char *address;
        unsigned size;
        bool written; /* ever: the others need no attention */
        uint64_t initial;
    } plain[PLAINS];
    bool fences;  /* somebody uses full fences: relaxed reads must be remembered */
    bool heavy;   /* heavy barriers or forks strike anywhere: every operation is a
                     step */
    bool changed; /* one of the above, or `written`: the search begins again */
};

extern struct known known;

/* --- memory.c --- */
uint16_t cell_of(const void *address, unsigned size);
bool store_is_void(const struct thread *thread, const void *address, unsigned size,
                   uint64_t value);
unsigned message_count(uint16_t cell);
struct message *message_of(uint16_t cell, unsigned index);
void memory_reset(void);
void memory_collect(void); /* forgets what nobody can read any more */
unsigned load_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned store_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned change_choices(const struct thread *thread, const struct request *request,
                        uint16_t *choices);
uint64_t memory_load(struct thread *thread, uint16_t cell, unsigned index, int order);
void memory_store(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                  int order);
/* Of memory that is nobody else's: the newest value, and all that carries. */
void memory_prepare(struct thread *thread, uint16_t cell, uint64_t value);
/* The new value's message comes right behind `index`. */
void memory_change(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                   int order);
void memory_fence(struct thread *thread);
void memory_fork(void); /* the other process: all see what there is, and only that */
void memory_order_parking(struct thread *thread);
void view_join(struct view *into, const struct view *from);
/* Calls `visit` for every view there is. */
void views_visit(void (*visit)(struct view *, void *), void *argument);
bool is_live(int thread); /* has begun or will, and has not ended */
bool changed_since_read(const struct thread *thread);

/* --- plain.c --- */
void plain_reset(void);
void plain_access(const void *address, unsigned size, bool write);

/* --- steps.c --- */
enum { PASS_CHANGED, PASS_SPIN, PASS_DEADLINE, PASS_CLOCK, PASS_KICK };
enum { KICK = 0x4000 }; /* with PASS_KICK: see kick() in search.c */
unsigned choices_of(int thread, uint16_t *choices);
bool perform(int thread, uint16_t choice); /* false: it does not go on yet */
extern uint64_t result;                    /* of the operation performed last */
bool may_go_on(const struct thread *thread, const struct request *request);
bool gives_way(const struct thread *thread);

/* --- operations.c --- */
int running_thread(void);

/* --- coroutine.c --- */
void coroutine_start(int thread, void (*body)(void));
void coroutine_resume(int thread);
void coroutine_yield(void);
void coroutine_wipe(void); /* what is below the caller's frame */
size_t coroutine_save(int thread, unsigned char *into);
size_t coroutine_restore(int thread, const unsigned char *from);
bool on_a_stack(const void *address);

/* --- pool.c --- */
void pools_prepare(void);
unsigned pool_taken(void);
void pool_expect_use(const void *address, bool writes);
bool slot_at(const void *address, int *pool, unsigned *id, size_t *offset);

/* --- state.c --- */
enum { STATE_BYTES = 2 << 20, STATE_UNHASHED = 8 };
size_t state_save(unsigned char *into); /* canonical but for its first bytes */
void state_restore(const unsigned char *from);

/* --- names.c --- */
const char *cell_name(const void *address);
const char *order_name(int order);
const char *client_variable(const void *address); /* or NULL */

/* --- findings --- */
/* Of memory that somebody accesses: it must be a living lock's, or a slot's. */
void expect_in_use(const void *address, bool writes);
/* Ends the run with this verdict; returns only outside of a client's thread. */
void fail(const char *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
extern bool failed;

#endif
