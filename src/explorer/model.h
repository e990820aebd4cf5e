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
 * RACES. `knows` holds for each plain place what the thread knows through
 * happens-before: KNOWS_WRITE, the latest write; bit t, thread t's latest read. Full
 * fences order messages but, without a message between them, give no happens-before:
 * they join `at` only.
 *
 * QUIET CELLS. A cell whose accesses are all ordered by happens-before behaves as plain
 * memory does: one value, and nobody can tell when it is accessed. Every cell is taken
 * for one until a race on it is seen; then it is contended, and the search begins
 * again. What nobody ever writes is not looked at, likewise.
 */
#ifndef HASP_EXPLORER_MODEL_H
#define HASP_EXPLORER_MODEL_H

#include "platform/platform.h"

#include <stddef.h>

enum {
    THREADS = 5, /* the last one is the client's finish(), after all others */
    FINISHER = THREADS - 1,
    PLACES = 4096,
    CELLS = 512, /* contended */
    PLAINS = 768,
    MESSAGES = 24, /* of a cell that some thread may still read */
    VIEWS = 192,
    INDEX = 4 * PLACES, /* a power of two */
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
    uint32_t place, stale; /* stale: there has been something else to be read */
    uint64_t value;
};

/*
 * A turn of a waiting loop. One that did nothing but read, and is back where it began,
 * may as well not have been made: the thread has only seen more by it, which leaves it
 * fewer ways on. Such a turn is explored no further, unless it saw what is newest while
 * all others wait, so that deadlocks show. (Compare M. Kokologiannakis, X. Ren, V.
 * Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021.)
 */
struct turn {
    uint64_t began; /* digest of the thread's stack */
    uint16_t steps; /* since it waited last */
    uint16_t writes; /* of messages */
    uint8_t idle;   /* nothing but reads so far */
    uint8_t stale;  /* one of them did not see the newest value */
};

/* Where a thread stands between two scheduling points; see may_go_on() in search.c. */
enum phase { PHASE_READING, PHASE_WRITING };

struct thread {
    struct request request;
    struct view view, pending; /* pending: seen by relaxed reads, until a fence */
    struct view released;      /* at its last fence */
    uint8_t phase, fenced, struck, spins, naps, node, in_child;
    uint8_t before; /* threads that have to begin before it, one bit each */
    uint8_t watched; /* it waited, and has not gone on since */
    uint8_t read_clock, read_deadline, reads;
    struct read read[READS];
    struct turn turn; /* no part of the state */
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
    uint64_t view_used[VIEWS / 64]; /* one bit each */
    struct view views[VIEWS];
};

extern struct model model;

/* --- places.c --- */
struct place {
    char *address;
    unsigned size;
    uint64_t initial;
    bool is_cell;
    bool written;         /* ever: the others need no attention */
    bool contended;       /* a cell, and not quiet */
    uint16_t cell, plain; /* its index, or that it has none in this search */
};

/* What is known for all runs of a search, by first touch. Not part of the state. */
struct known {
    unsigned places, cells, plains;
    uint16_t index[INDEX]; /* of places by address, plus one */
    struct place place[PLACES];
    uint16_t cell[CELLS], plain[PLAINS]; /* their places */
    bool fences;  /* somebody uses full fences: relaxed reads must be remembered */
    bool heavy;   /* heavy barriers or forks strike anywhere: every operation is a
                     step, and no cell is quiet */
    bool changed; /* what is known: the search has to begin again */
};

extern struct known known;

struct place *place_of(const void *address, unsigned size, bool is_cell);
struct place *place_of_cell(const void *address, unsigned size);
struct place *place_of_index(uint16_t cell);
bool is_quiet(const struct place *place);
bool is_tracked(const struct place *place); /* as plain memory */
void place_is_written(struct place *place);
void place_is_contended(struct place *place);
unsigned places_learnt(void); /* grows with what is known */
void places_begin(void); /* a search, with what the last one has learnt */
void places_reset(void); /* the values of plain memory */

/* --- races.c --- */
/* True, and recorded, when it is ordered behind all conflicting accesses of others. */
bool read_is_ordered(unsigned plain, int thread);
bool write_is_ordered(unsigned plain, int thread);
uint8_t unordered_readers(unsigned plain, int thread); /* one bit each */
void races_collect(void);

/* --- quiet.c --- */
uint64_t value_at(const void *address, unsigned size);
uint64_t quiet_operation(struct place *place, const struct request *request);
void quiet_prepare(struct place *place, uint64_t value);
/* On a cell in a stack, which is its thread's own. */
uint64_t own_operation(void *address, unsigned size, const struct request *request);

/* --- views.c --- */
void view_join(struct view *into, const struct view *from);
void view_copy(struct view *into, const struct view *from);
uint8_t view_take(void); /* undefined content */
uint8_t view_new(const struct view *content);
void view_give(uint8_t view); /* NO_VIEW is fine */
/* Calls `visit` for every view there is. */
void views_visit(void (*visit)(struct view *, void *), void *argument);
/* What was at `from` or behind it in a cell's order is `by` further on. */
void views_shift(uint16_t cell, unsigned from, int by);

/* --- memory.c --- */
unsigned message_count(uint16_t cell);
struct message *message_of(uint16_t cell, unsigned index);
void memory_reset(void);
unsigned load_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned store_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned change_choices(const struct thread *thread, const struct request *request,
                        uint16_t *choices);
uint64_t memory_load(struct thread *thread, uint16_t cell, unsigned index, int order);
void memory_store(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                  int order);
/* Of memory that is nobody else's: the newest value, and all that carries. */
void memory_prepare(struct thread *thread, struct place *place, uint64_t value);
/* The new value's message comes right behind `index`. */
void memory_change(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                   int order);
void memory_fence(struct thread *thread);
void memory_fork(void); /* the other process: all see what there is, and only that */
void memory_order_parking(struct thread *thread);
bool is_live(int thread);    /* has begun or will, and has not ended */
bool takes_part(int thread); /* is live, and of this process */
bool is_stale(const struct thread *thread, const struct read *read);

/* --- collect.c --- */
void memory_collect(void); /* forgets what nobody can tell any more */

/* --- plain.c --- */
void plain_access(const void *address, unsigned size, bool write);

/* --- steps.c --- */
enum { PASS_CHANGED, PASS_SPIN, PASS_DEADLINE, PASS_CLOCK, PASS_KICK };
enum { KICK = 0x4000 }; /* with PASS_KICK: see kick() in search.c */
unsigned choices_of(int thread, uint16_t *choices);
bool perform(int thread, uint16_t choice); /* false: it does not go on yet */
extern uint64_t result;                    /* of the operation performed last */
uint64_t changed_value(const struct request *request, unsigned size, uint64_t before);
void note_read(struct thread *thread, const struct place *place, uint64_t value);
bool may_go_on(const struct thread *thread, const struct request *request);
bool gives_way(const struct thread *thread);
bool was_idle_turn(int thread);

/* --- operations.c --- */
int running_thread(void);

/* --- coroutine.c --- */
void coroutine_start(int thread, void (*body)(void));
void coroutine_resume(int thread);
void coroutine_yield(void);
void coroutine_wipe(void); /* what is below the caller's frame */
uint64_t coroutine_digest(int thread); /* of its stack */
size_t coroutine_save(int thread, unsigned char *into);
size_t coroutine_restore(int thread, const unsigned char *from);
int stack_of(const void *address); /* -1: on none */

/* --- pool.c --- */
void pools_prepare(void);
unsigned pool_taken(void);
void pool_expect_use(const void *address, bool writes);
bool slot_at(const void *address, int *pool, unsigned *id, size_t *offset);

/* --- state.c --- */
/* A saved state begins with what is no part of it; at STATE_LAST with who ran last,
 * which is part of it where preemptions are counted. */
enum {
    STATE_BYTES = 2 << 20,
    STATE_LAST = THREADS * sizeof(struct turn),
    STATE_HEAD = STATE_LAST + 8,
};
size_t state_save(unsigned char *into);
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
