/* SPDX-License-Identifier: MIT */
/*
 * Servers: threads that execute the sections of others, for ffwd.h and rcl.h.
 *
 * An object belongs to one server, which has a line (algorithms/lines.h) for each
 * client that is in a call. Lines are shared by all objects of the server: a client
 * takes one for each request and frees it afterwards, so ids are recycled.
 *
 *   asleep    1 while the thread that searches for requests sleeps, or is about to
 *   turn      0, or the number of the thread that may search; IN_SECTION is added
 *             while it executes a section (rcl.h)
 *   returning threads that want the turn to go on with a section
 *   released  counts how often the turn became free, for those who want it
 *   spares    threads that want the turn in order to serve
 *   alarm     counts what the manager should look at
 *
 * S1. A server that has found no request for some time stores `asleep`, executes a
 *     fence, looks once more, and parks. A client publishes its request, and looks at
 *     `asleep` at once, without a fence; and after it has waited for as long as a sleep
 *     costs, it executes a fence and looks again. So one of them sees the other, and
 *     an idle server costs nothing.
 * S2. Each store that frees the turn is followed by a change of `released` (release),
 *     and a wake-up of all who want it; they read `released` (acquire) before `turn`.
 *
 * Threads run from the first object's initialisation until the last one's destruction.
 * The child of a fork() has none; the first call there starts them anew.
 */
#ifndef HASP_DELEGATION_SERVER_H
#define HASP_DELEGATION_SERVER_H

#include "delegation/algorithms/lines.h"

enum {
    SERVERS_MOST = MODEL_CHECKED ? 2 : 8, /* of each executor */
    SERVER_DIRECTORIES = MODEL_CHECKED ? 2 : 32,
    SERVER_THREADS_MOST = 64,
    /* How long a server searches in vain until it sleeps, in sleeps. */
    SERVER_IDLE = MODEL_CHECKED ? 0 : 16,
    RESPONSE_CLIENTS = 12, /* of ffwd.h */
    RESPONSES_MOST = (SERVER_DIRECTORIES * LINES_EACH + RESPONSE_CLIENTS - 1) /
                     RESPONSE_CLIENTS,
};

#define IN_SECTION 0x80000000u

/* What a server has done. A round is a search of all lines that found a request. */
struct server_counts {
    struct atomic_u64 sections, rounds;
    struct atomic_u64 lines;      /* that there were in these rounds */
    struct atomic_u64 serialised; /* rounds with requests for several objects */
    struct atomic_u64 replaced;   /* how often another thread went on */
};

/* The counts at its last look at them (server_moves.h). */
struct server_seen {
    uint64_t rounds, sections, lines, serialised;
};

/* `serves` of the threads of a server, in held_nodes(): its place in server_table + 1,
 * and the thread's number. */
enum { SERVES_SHIFT = 16 };

struct server {
    /* Mostly read. */
    struct lines lines;
    struct call *directories[SERVER_DIRECTORIES];
    struct call *responses[RESPONSES_MOST]; /* of ffwd.h */
    struct atomic_u32 generation;           /* of the fork in which its threads run */
    struct atomic_u32 objects;
    struct atomic_u32 stopping;
    struct atomic_u32 changing; /* guards starting and stopping: generation_lock() */
    uint32_t place;             /* in server_table */
    bool sleeps;                /* while it is idle */

    struct atomic_u32 asleep __attribute__((aligned(CACHE_LINE)));

    /* Of its threads. */
    struct atomic_u32 turn __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 returning;
    struct atomic_u64 current; /* the object of the section */
    struct atomic_u64 sections; /* begun */
    struct server_counts counts;
    struct server_seen seen;
    struct atomic_u32 found_percent; /* requests of a search, at the last look */
    struct atomic_u32 moves;       /* 1: some of its objects may */
    struct progress progress;

    struct atomic_u32 released __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 spares, threads;
    struct atomic_u32 alarm;
} __attribute__((aligned(CACHE_LINE)));

struct delegate;

enum server_kind { SERVER_FFWD, SERVER_RCL, SERVER_KINDS };

extern struct server server_table[SERVER_KINDS * SERVERS_MOST]
    __attribute__((visibility("hidden")));

/* Another object belongs to this server, number `number` of its kind. Starts its
 * threads; returns NULL if that is not possible. */
struct server *server_join(enum server_kind kind, uint32_t number)
    __attribute__((visibility("hidden")));

/* An object of the server has been destroyed. Its threads end after the last one. */
void server_part(struct server *server) __attribute__((visibility("hidden")));

/* Starts the threads again, in the child of a fork. */
void server_restart(struct server *server) __attribute__((visibility("hidden")));

/* Starts another thread that serves, where the platform can. */
void server_add_thread(struct server *server) __attribute__((visibility("hidden")));

/* Makes all threads of the server return, once all calls have ended. */
void server_dismiss(struct server *server) __attribute__((visibility("hidden")));

/* The calling thread becomes thread `number`, not 0, of the server; returns when that
 * is dismissed. For platforms that start no threads. */
void server_serve(struct server *server, uint32_t number)
    __attribute__((visibility("hidden")));

/* Waits, in a section of the object, until the cell changes; other sections of the
 * object are executed meanwhile. May return without a change. Returns whether the
 * executor can do that: rcl, and lock:NAME. `*in_time`: the deadline has not passed. */
bool delegate_wait(struct delegate *delegate, struct atomic_u32 *cell,
                   const struct deadline *deadline, bool *in_time)
    __attribute__((visibility("hidden")));

/* Wakes the thread that searches for requests. */
void server_wake(struct server *server) __attribute__((visibility("hidden")));

/* Tells the manager that a client is about to sleep. */
void server_alarm(struct server *server) __attribute__((visibility("hidden")));

static inline bool server_is_of(const struct server *server, enum server_kind kind)
{
    return server->place / SERVERS_MOST == (uint32_t)kind;
}

/* `serves` of thread `number`. */
static inline uint32_t server_mark(const struct server *server, uint32_t number)
{
    return (server->place + 1) << SERVES_SHIFT | number;
}

/* Returns `serves` of the calling thread, 0 if it is of no server. */
static inline uint32_t server_serves(void)
{
    return load_relaxed(&held_nodes()->serves);
}

static inline struct server *server_of(uint32_t serves)
{
    return &server_table[(serves >> SERVES_SHIFT) - 1];
}

static inline uint32_t server_thread_of(uint32_t serves)
{
    return serves & ((1u << SERVES_SHIFT) - 1);
}

/* Excludes other threads of the process. One of the parent that is inside during a fork
 * counts for nothing. */
static inline bool generation_trylock(struct atomic_u32 *cell)
{
    const uint32_t now = fork_generation();
    uint32_t found = load_relaxed(cell);
    return found != now && compare_exchange_acquire(cell, &found, now);
}

static inline void generation_lock(struct atomic_u32 *cell)
{
    while (!generation_trylock(cell))
        relax();
}

static inline void generation_unlock(struct atomic_u32 *cell)
{
    store_release(cell, 0);
}

/* Called before each request. */
static inline void server_check(struct server *server)
{
    if (STARTS_THREADS &&
        unlikely(load_relaxed(&server->generation) != fork_generation()))
        server_restart(server);
}

/* Called after each request. */
static inline void server_notify(struct server *server)
{
    if (unlikely(load_relaxed(&server->asleep)))
        server_wake(server);
}

/* The same for sure, by a client that has waited, or a thread that made work. */
static inline void server_notify_surely(struct server *server)
{
    fence_seq_cst();
    server_notify(server);
}

/* Counts a search that has found `served` requests, of several objects or not. */
static inline void server_count(struct server *server, uint32_t served, bool several)
{
    struct server_counts *counts = &server->counts;
    if (!STATISTICS || !served)
        return;
    store_relaxed(&counts->sections, load_relaxed(&counts->sections) + served);
    store_relaxed(&counts->rounds, load_relaxed(&counts->rounds) + 1);
    store_relaxed(&counts->lines,
                  load_relaxed(&counts->lines) + lines_count(&server->lines));
    if (several)
        store_relaxed(&counts->serialised, load_relaxed(&counts->serialised) + 1);
}

#endif
