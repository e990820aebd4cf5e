/* SPDX-License-Identifier: MIT */
/*
 * Of all threads of a server, the one that has the turn searches the lines for
 * requests (server.h). While it executes a section, another thread may get the turn in
 * its place.
 *
 * T1. Only the thread that has the turn, and is in no section, makes objects held.
 * T2. A thread with the turn stores IN_SECTION, by which it allows others to take the
 *     turn away (compare-and-exchange to 0); afterwards it finds out in the same way.
 *     So it never has the turn at the same time as another one.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_SERVER_TURN_H
#define HASP_DELEGATION_ALGORITHMS_SERVER_TURN_H

#include "delegation/server.h"

enum { WAKE_ALL = INT32_MAX };

/* Spins until an idle server sleeps. */
static inline uint32_t server_patience(void)
{
    return SERVER_IDLE * spin_limit();
}

/* Sleeps until there is work (S1). */
static inline void server_sleep(struct server *server,
                                bool (*has_work)(struct server *))
{
    store_relaxed(&server->asleep, 1);
    fence_seq_cst();
    if (has_work(server) || load_relaxed(&server->returning) ||
        load_relaxed(&server->stopping))
        store_relaxed(&server->asleep, 0);
    while (load_acquire(&server->asleep))
        park(&server->asleep, 1, NULL);
}

/* The calling thread has found no request. `*left` spins, then sleeps. */
static inline void server_idle(struct server *server, uint32_t *left,
                               bool (*has_work)(struct server *))
{
    if (!server->sleeps) {
        relax();
    } else if (*left) {
        *left -= relax_at_most(*left);
    } else {
        server_sleep(server, has_work);
        *left = server_patience();
    }
}

/* The turn has become free: wakes those who want it. */
static inline void turn_announce(struct server *server)
{
    fetch_add_release(&server->released, 1);
    unpark(&server->released, WAKE_ALL);
}

/* Takes the turn away from a thread in a section. `seen` is the turn. */
static inline bool turn_take_away(struct server *server, uint32_t seen)
{
    if (!compare_exchange_acq_rel(&server->turn, &seen, 0))
        return false;
    if (!load_relaxed(&server->spares))
        server_add_thread(server);
    turn_announce(server);
    return true;
}

/* The calling thread is in a section, and may have to wait: others go on. It need not
 * get the turn again. */
static inline void turn_leave(uint32_t serves)
{
    struct server *server = server_of(serves);
    if (server_is_of(server, SERVER_RCL))
        turn_take_away(server, server_thread_of(serves) | IN_SECTION);
}

/* Ends the permission to take the turn away; returns whether the caller has it. */
static inline bool turn_keep(struct server *server, uint32_t number)
{
    return acquire_if(&server->turn, number | IN_SECTION, number);
}

/* Gets the turn, in order to go on with a section. */
static inline void turn_regain(struct server *server, uint32_t number)
{
    fetch_add_relaxed(&server->returning, 1);
    server_notify_surely(server);
    for (;;) {
        uint32_t seen = load_acquire(&server->released);
        if (!load_relaxed(&server->turn) && acquire_if(&server->turn, 0, number))
            break;
        park(&server->released, seen, NULL);
    }
    fetch_add_relaxed(&server->returning, UINT32_MAX);
}

/* Gets the turn, in order to serve. Returns false if the server ends. */
static inline bool turn_await(struct server *server, uint32_t number)
{
    bool got = false;
    fetch_add_relaxed(&server->spares, 1);
    for (;;) {
        uint32_t seen = load_acquire(&server->released);
        if (load_relaxed(&server->stopping))
            break;
        if (!load_relaxed(&server->returning) && !load_relaxed(&server->turn) &&
            acquire_if(&server->turn, 0, number)) {
            got = true;
            break;
        }
        park(&server->released, seen, NULL);
    }
    fetch_add_relaxed(&server->spares, UINT32_MAX);
    return got;
}

/* Passes the turn on to a thread that wants it. */
static inline void turn_release(struct server *server)
{
    store_release(&server->turn, 0);
    turn_announce(server);
}

#endif
