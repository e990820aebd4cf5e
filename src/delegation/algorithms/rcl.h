/* SPDX-License-Identifier: MIT */
/*
 * Remote Core Locking. J. Lozi, F. David, G. Thomas, J. Lawall, G. Muller, "Remote core
 * locking: migrating critical-section execution to improve the performance of
 * multithreaded applications", USENIX ATC 2012.
 *
 * Idea: a server executes the sections of its objects; a client writes its request into
 * a line, and waits for the answer there. Several threads can serve. One of them has
 * the turn and searches the lines (server_turn.h). If its section blocks, faults, spins
 * or is preempted while clients wait for other objects, another thread gets the turn;
 * the section goes on, with its own object held.
 *
 *   word      of an object: OBJECT_FREE, OBJECT_HELD, or OBJECT_WANTED if a section of
 *             another object waits for it, too
 *   executed  of a line: 1 once a thread has begun to execute the request
 *
 * R1. An object is made held by the thread that has the turn, before the section, and
 *     freed by the thread that executed it. So its sections exclude each other, whoever
 *     has the turn meanwhile.
 * R2. A request is executed by the thread that stores `executed`, which has the turn
 *     then. The client stores 0 (release) before its next request; a thread that reads
 *     that 0 (acquire) reads `cell` again, and finds the next request or none.
 * R3. A thread frees the object before it settles the call: the object may be destroyed
 *     then. A call that is executed, but not settled, is passed over.
 *
 * In the paper, all threads of a server share a core, a manager with a higher priority
 * rotates them each time slice, and a backup thread with a lower one runs if all of
 * them block. Here they may run on any CPU. A client that has waited for long raises an
 * alarm before it sleeps; the manager (server_threads.c) then watches for a section
 * that stops others, until no client sleeps.
 *
 * Nested sections: an object of the same server is executed in place once it is free; a
 * thread that has to wait for it, for another server, or for a condition leaves the
 * turn to others.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_RCL_H
#define HASP_DELEGATION_ALGORITHMS_RCL_H

#include "delegation/algorithms/server_turn.h"
#include "delegation/delegate.h"
#include "delegation/server_moves.h"

enum { OBJECT_FREE, OBJECT_HELD, OBJECT_WANTED };

static inline bool rcl_init(struct delegate *delegate)
{
    struct server *server = server_join(SERVER_RCL, delegate->server_number);
    delegate_set_server(delegate, server);
    return server != NULL;
}

/* Returns the object of the line's request; NULL if there is none (R2). */
static inline struct delegate *rcl_request(const struct call *line)
{
    if (!line || !still_waiting(load_relaxed(&line->cell)) ||
        load_acquire(&line->executed) ||
        !still_waiting(load_acquire(&line->cell)))
        return NULL;
    return (struct delegate *)(uintptr_t)load_relaxed(&line->object);
}

/* Whether another server has the object of this request (M2). */
static inline bool rcl_has_moved(const struct server *server, const struct call *line,
                                 const struct delegate *object)
{
    return unlikely(load_relaxed(&line->moves)) && delegate_server(object) != server;
}

/* Answers such a request. */
static inline void rcl_refuse(struct call *line)
{
    store_relaxed(&line->executed, 1);
    store_relaxed(&line->moves, HAS_MOVED);
    if (exchange_release(&line->cell, CALL_DONE) == CALL_PARKED)
        unpark(&line->cell, 1);
}

/* Frees the object after its section. `keeps`: the caller has the turn. */
static inline void rcl_free(struct delegate *object, bool keeps)
{
    if (likely(keeps) && likely(load_relaxed(&object->word) == OBJECT_HELD))
        store_release(&object->word, OBJECT_FREE);
    else if (exchange_release(&object->word, OBJECT_FREE) == OBJECT_WANTED)
        unpark(&object->word, WAKE_ALL);
}

/* Executes the request. Returns whether the caller still has the turn. */
static inline bool rcl_execute(struct server *server, uint32_t number,
                               struct call *line, struct delegate *object)
{
    store_relaxed(&object->word, OBJECT_HELD);
    store_relaxed(&line->executed, 1);
    store_relaxed(&server->current, (uint64_t)(uintptr_t)object);
    if (STATISTICS)
        store_relaxed(&server->sections, load_relaxed(&server->sections) + 1);
    store_release(&server->turn, number | IN_SECTION);
    call_execute(line);
    bool keeps = turn_keep(server, number);
    delegate_count(object, 1);
    rcl_free(object, keeps);
    if (exchange_release(&line->cell, CALL_DONE) == CALL_PARKED)
        unpark(&line->cell, 1);
    if (unlikely(!keeps))
        server_notify_surely(server); /* requests for the object may be left */
    return keeps;
}

/* Executes the requests of all lines; returns their number. `busy`: there were some in
 * the last round. `*keeps` becomes false if the caller has lost the turn. */
static inline uint32_t rcl_round(struct server *server, uint32_t number, bool busy,
                                 bool *keeps)
{
    const uint32_t ahead = busy ? server->lines.ahead : 0;
    const uint32_t count = lines_count(&server->lines);
    uint32_t served = 0;
    const struct delegate *first = NULL;
    bool several = false;
    for (uint32_t index = 0; index < count; index++) {
        struct call *line = line_at(&server->lines, index);
        if (ahead && index + ahead < count)
            line_fetch(&server->lines, index + ahead, false);
        struct delegate *object = rcl_request(line);
        if (!object)
            continue;
        if (rcl_has_moved(server, line, object)) {
            rcl_refuse(line);
            continue;
        }
        if (load_acquire(&object->word) != OBJECT_FREE)
            continue;
        several |= first && first != object;
        first = object;
        served++;
        if (!rcl_execute(server, number, line, object)) {
            *keeps = false;
            return served;
        }
        progress_show(&server->progress, served);
    }
    server_count(server, served, several);
    return served;
}

/* Whether there is a request that the caller, which has the turn, can execute. */
static inline bool rcl_has_work(struct server *server)
{
    const uint32_t count = lines_count(&server->lines);
    for (uint32_t index = 0; index < count; index++) {
        const struct call *line = line_at(&server->lines, index);
        const struct delegate *object = rcl_request(line);
        if (object && (rcl_has_moved(server, line, object) ||
                       load_acquire(&object->word) == OBJECT_FREE))
            return true;
    }
    return false;
}

/* Whether a request waits for another object than `current`. For threads without the
 * turn: the object may be gone, so only its address is used. */
static inline bool rcl_others_wait(struct server *server, uint64_t current)
{
    const uint32_t count = lines_count(&server->lines);
    for (uint32_t index = 0; index < count; index++) {
        const struct delegate *object = rcl_request(line_at(&server->lines, index));
        if (object && (uint64_t)(uintptr_t)object != current)
            return true;
    }
    return false;
}

/* Gives the turn to another thread if the one that has it executes a section, while
 * others wait. */
static inline bool rcl_replace(struct server *server)
{
    uint32_t seen = load_acquire(&server->turn);
    return (seen & IN_SECTION) &&
           rcl_others_wait(server, load_relaxed(&server->current)) &&
           turn_take_away(server, seen);
}

/* Serves until the turn is lost, or wanted by another thread. */
static inline void rcl_hold(struct server *server, uint32_t number)
{
    bool keeps = true;
    uint32_t served = 0, left = server_patience();
    for (;;) {
        served = rcl_round(server, number, served != 0, &keeps);
        if (!keeps)
            return;
        if (load_relaxed(&server->returning) || load_relaxed(&server->stopping))
            break;
        if (served && load_relaxed(&server->moves))
            server_moves_look(server);
        if (served)
            left = server_patience();
        else
            server_idle(server, &left, rcl_has_work);
    }
    turn_release(server);
}

/* A thread of the server. Returns when it has been dismissed. */
static inline void rcl_serve(struct server *server, uint32_t number)
{
    store_relaxed(&held_nodes()->serves, server_mark(server, number));
    while (turn_await(server, number))
        rcl_hold(server, number);
    store_relaxed(&held_nodes()->serves, 0);
}

/* Makes the object held by a thread of its server, which is in a section of another
 * object, or waited for a condition. Returns false if the object has moved. The caller
 * has the turn afterwards, and is in a section. */
static inline bool rcl_hold_object(struct delegate *object, struct server *server,
                                   uint32_t number)
{
    if (!turn_keep(server, number))
        turn_regain(server, number);
    while (delegate_server(object) == server &&
           load_acquire(&object->word) != OBJECT_FREE) {
        uint32_t held = OBJECT_HELD;
        /* A thread without the turn may free it just now. */
        if (!compare_exchange_relaxed(&object->word, &held, OBJECT_WANTED) &&
            held == OBJECT_FREE)
            continue;
        turn_release(server);
        while (load_acquire(&object->word) == OBJECT_WANTED)
            park(&object->word, OBJECT_WANTED, NULL);
        turn_regain(server, number);
    }
    const bool is_here = delegate_server(object) == server;
    if (is_here)
        store_relaxed(&object->word, OBJECT_HELD);
    store_release(&server->turn, number | IN_SECTION);
    return is_here;
}

/* A section calls another object of its server. Returns false if that has moved. */
static __attribute__((noinline, unused)) bool
rcl_run_nested(struct delegate *delegate, struct server *server, uint32_t number,
               void *(*section)(void *), void *context, void **result)
{
    if (!rcl_hold_object(delegate, server, number))
        return false;
    *result = section(context);
    bool keeps = turn_keep(server, number);
    delegate_count(delegate, 1);
    rcl_free(delegate, keeps);
    if (keeps)
        store_release(&server->turn, number | IN_SECTION);
    else
        server_notify_surely(server);
    return true;
}

static inline void rcl_await(struct server *server, struct call *line,
                             enum waiting waiting)
{
    if (still_waiting(load_relaxed(&line->cell)))
        call_spin(line, &server->progress);
    if (still_waiting(load_relaxed(&line->cell))) {
        server_notify_surely(server);
        server_alarm(server);
    }
    wait_for_grant(&line->cell, &line->asleep, waiting, false, NULL);
}

/* Publishes a request for the object, in a line that the caller owns then. */
static inline struct call *rcl_publish(struct delegate *delegate, struct server *server,
                                       void *(*section)(void *), void *context,
                                       enum call_moves moves)
{
    struct call *line = line_take(&server->lines);
    store_relaxed(&line->object, (uint64_t)(uintptr_t)delegate);
    store_relaxed(&line->moves, moves);
    store_release(&line->executed, 0);
    line_ask(line, section, context);
    return line;
}

/* Asks a server, not the caller's own. Returns false if the object is not there. */
static inline bool rcl_ask(struct delegate *delegate, struct server *server,
                           void *(*section)(void *), void *context,
                           enum waiting waiting, enum call_moves moves, void **result)
{
    server_check(server);
    struct call *line = rcl_publish(delegate, server, section, context, moves);
    server_notify(server);
    rcl_await(server, line, waiting);
    const bool done = !moves || load_relaxed(&line->moves) != HAS_MOVED;
    *result = line_end(line);
    return done;
}

static inline void *rcl_call(struct delegate *delegate, void *(*section)(void *),
                             void *context, enum waiting waiting, enum call_moves moves)
{
    const uint32_t serves = server_serves();
    for (;;) {
        void *result;
        struct server *server = delegate_server(delegate);
        if (unlikely(serves) && server_of(serves) == server) {
            if (rcl_run_nested(delegate, server, server_thread_of(serves), section,
                               context, &result))
                return result;
            continue;
        }
        if (unlikely(serves))
            turn_leave(serves);
        if (rcl_ask(delegate, server, section, context, waiting, moves, &result))
            return result;
    }
}

static inline void *rcl_run(struct delegate *delegate, void *(*section)(void *),
                            void *context, enum waiting waiting)
{
    return rcl_call(delegate, section, context, waiting, NEVER_MOVES);
}

static inline void rcl_destroy(struct delegate *delegate)
{
    server_part(delegate_server(delegate));
}

/* Waits, in a section of the object, until `condition` changes; other sections of the
 * object are executed meanwhile. May return without a change. Returns false if the
 * deadline has passed. */
static inline bool rcl_wait(struct delegate *delegate, struct atomic_u32 *condition,
                            const struct deadline *deadline)
{
    const uint32_t seen = load_relaxed(condition), serves = server_serves();
    struct server *server = delegate_server(delegate);
    store_relaxed(&delegate->pinned, 1);
    turn_leave(serves);
    rcl_free(delegate, false);
    server_notify_surely(server);
    bool in_time = park(condition, seen, deadline);
    rcl_hold_object(delegate, server, server_thread_of(serves));
    return in_time;
}

#endif
