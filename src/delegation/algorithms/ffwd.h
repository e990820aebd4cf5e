/* SPDX-License-Identifier: MIT */
/*
 * ffwd: fast, fly-weight delegation. S. Roghanchi, J. Eriksson, N. Basu, "ffwd:
 * delegation is (much) faster than you think", SOSP 2017.
 *
 * Idea: a server thread executes all sections of its objects, so these need no lock.
 * A client writes its request into a line of its own; the server only reads that. It
 * answers a group of clients by one line, which only it writes, after it has executed
 * the requests of all of them: few lines move, and always in the same direction.
 *
 *   next     of a client's line: toggled by each request
 *   results  of the server's line for a group, one for each client
 *   toggles  a bit for each client: equals its `next` once that is executed
 *
 * G1. A client stores its request, then toggles `next` (release, pairs with the
 *     server's acquire). It keeps its line until it has its result.
 * G2. The server stores results, then toggles (release, pairs with the client's
 *     acquire). It is the only thread that executes sections of its objects.
 *
 * The server spins while there are requests, and sleeps if there are none (server.h). A
 * section that blocks stops all objects of the server. A section may call other objects
 * of the same server, which the server executes in place; calls between servers must
 * not form a cycle.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_FFWD_H
#define HASP_DELEGATION_ALGORITHMS_FFWD_H

#include "delegation/algorithms/server_turn.h"
#include "delegation/delegate.h"

/* The server's line for a group of clients; a slot of the pool of calls. */
struct ffwd_response {
    struct atomic_u32 toggles, unused[3];
    struct atomic_u64 results[RESPONSE_CLIENTS];
    unsigned char rest[POOL_PAYLOAD - 16 - 8 * RESPONSE_CLIENTS];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(sizeof(struct ffwd_response) == sizeof(struct call), "it is one");

static inline struct ffwd_response *ffwd_response_of(const struct server *server,
                                                     uint32_t index)
{
    return (struct ffwd_response *)(void *)server->responses[index / RESPONSE_CLIENTS];
}

static inline bool ffwd_init(struct delegate *delegate)
{
    struct server *server = server_join(SERVER_FFWD, delegate->server_number);
    delegate_set_server(delegate, server);
    return server != NULL;
}

static inline bool ffwd_asks(const struct call *line, uint32_t toggles)
{
    return line &&
           load_acquire(&line->next) != (toggles >> line->index % RESPONSE_CLIENTS & 1);
}

/* Executes the requests of the group of lines from `first` on, of `count` lines. Its
 * clients read the response all the time, so that is written at the end. */
static inline uint32_t ffwd_serve_group(struct server *server, uint32_t first,
                                        uint32_t count, struct delegate **object,
                                        bool *several)
{
    const uint32_t ahead = server->lines.ahead;
    const uint32_t most = first + RESPONSE_CLIENTS, end = most < count ? most : count;
    struct ffwd_response *response = ffwd_response_of(server, first);
    const uint32_t before = load_relaxed(&response->toggles);
    uint32_t toggles = before, served = 0;
    uint64_t results[RESPONSE_CLIENTS];
    for (uint32_t index = first; index < end; index++) {
        struct call *line = line_at(&server->lines, index);
        if (index + ahead < count)
            line_fetch(&server->lines, index + ahead, false);
        if (!ffwd_asks(line, toggles))
            continue;
        struct delegate *own =
            (struct delegate *)(uintptr_t)load_relaxed(&line->object);
        *several |= *object && *object != own;
        *object = own;
        results[index - first] = (uint64_t)(uintptr_t)call_section(line);
        delegate_count(own, 1);
        toggles ^= 1u << (index - first);
        served++;
    }
    if (!served)
        return 0;
    for (uint32_t i = 0; i < end - first; i++)
        if ((toggles ^ before) >> i & 1)
            store_relaxed(&response->results[i], results[i]);
    store_release(&response->toggles, toggles);
    return served;
}

/* Executes the requests of all lines; returns their number. */
static inline uint32_t ffwd_round(struct server *server)
{
    const uint32_t count = lines_count(&server->lines);
    uint32_t served = 0;
    struct delegate *object = NULL;
    bool several = false;
    for (uint32_t first = 0; first < count; first += RESPONSE_CLIENTS)
        served += ffwd_serve_group(server, first, count, &object, &several);
    server_count(server, served, several);
    return served;
}

static inline bool ffwd_has_work(struct server *server)
{
    const uint32_t count = lines_count(&server->lines);
    for (uint32_t index = 0; index < count; index++)
        if (ffwd_asks(line_at(&server->lines, index),
                      load_relaxed(&ffwd_response_of(server, index)->toggles)))
            return true;
    return false;
}

/* The server's thread. Returns when it has been dismissed. */
static inline void ffwd_serve(struct server *server, uint32_t number)
{
    uint32_t left = server_patience();
    store_relaxed(&held_nodes()->serves, server_mark(server, number));
    while (!load_relaxed(&server->stopping)) {
        if (ffwd_round(server))
            left = server_patience();
        else
            server_idle(server, &left, ffwd_has_work);
    }
    store_relaxed(&held_nodes()->serves, 0);
}

static inline void ffwd_await(struct server *server, const struct call *line)
{
    const uint32_t wanted = load_relaxed(&line->next);
    const uint32_t bit = line->index % RESPONSE_CLIENTS;
    struct ffwd_response *response = ffwd_response_of(server, line->index);
    for (;;) {
        for (uint32_t left = yield_limit() + 1; left; left -= relax_at_most(left))
            if ((load_acquire(&response->toggles) >> bit & 1) == wanted)
                return;
        server_notify_surely(server);
        yield();
    }
}

static inline void *ffwd_run(struct delegate *delegate, void *(*section)(void *),
                             void *context, enum waiting waiting)
{
    (void)waiting;
    struct server *server = delegate_server(delegate);
    const uint32_t serves = server_serves();
    if (unlikely(serves) && server_of(serves) == server) {
        void *result = section(context);
        delegate_count(delegate, 1);
        return result;
    }
    if (unlikely(serves))
        turn_leave(serves);
    server_check(server);
    struct call *line = line_take(&server->lines);
    call_ask(line, section, context);
    store_relaxed(&line->object, (uint64_t)(uintptr_t)delegate);
    store_release(&line->next, !load_relaxed(&line->next));
    server_notify(server);
    ffwd_await(server, line);
    struct ffwd_response *response = ffwd_response_of(server, line->index);
    uint64_t result = load_relaxed(&response->results[line->index % RESPONSE_CLIENTS]);
    store_release(&line->owned, 0);
    return (void *)(uintptr_t)result;
}

static inline void ffwd_destroy(struct delegate *delegate)
{
    server_part(delegate_server(delegate));
}

#endif
