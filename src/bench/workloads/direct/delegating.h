/* SPDX-License-Identifier: MIT */
/*
 * Delegates for workloads, in programs that contain the executors; without/delegating.h
 * is for those that do not. The include path picks one of the two.
 *
 * `executor` is an index in delegate_names; 0 stands for the mutex of the workload.
 */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "bench/workloads/delegating_counts.h"
#include "delegation/list/descriptor.h"
#include "delegation/server.h"
#include "delegation/server_moves.h"

#include <string.h>

enum { CAN_DELEGATE = true, DELEGATING_SERVERS = SERVERS_MOST };

/* Whether objects begin at one server, and move to others. */
static inline bool delegating_moves(uint64_t executor)
{
    return strcmp(executor_list[executor].about.name, "rcl-moving") == 0;
}

/* `server` is the number of the object's server, for executors that have some; objects
 * that move begin at server 0, and may move to this one. Without `ahead`, rcl and
 * flat-combining work as published: each thread has a line of its own, and lines are
 * not fetched before they are looked at. */
static inline void delegating_init(struct delegate *delegate, uint64_t executor,
                                   uint64_t server, bool ahead)
{
    const bool moves = delegating_moves(executor);
    if (!delegate_init_at(delegate, (unsigned)executor, NULL,
                          moves ? 0 : (uint32_t)server) ||
        (moves && server && !server_moves_offer((uint32_t)server)))
        die("not enough memory or threads for an executor");
    if (!ahead) {
        struct server *first = delegate_server(delegate);
        struct lines *lines = first ? &first->lines : &delegate->lines;
        lines->ahead = 0;
        lines->own = cpu_count();
    }
}

static inline void delegating_run(struct delegate *delegate, uint64_t executor,
                                  void *(*section)(void *), void *context)
{
    executor_list[executor].operations.run(delegate, section, context);
}

/* Returns whether workers have to serve, because the platform starts no threads for
 * that. */
static inline bool delegating_needs_servers(uint64_t executor)
{
    return !STARTS_THREADS && executor_has_servers(&executor_list[executor].about);
}

/* Returns a server of the kind that the object has. */
static inline struct server *delegating_server(const struct delegate *object,
                                               uint32_t number)
{
    const uint32_t place = delegate_server(object)->place;
    return &server_table[place - place % SERVERS_MOST + number];
}

/* Serves until delegating_dismiss(). */
static inline void delegating_serve(const struct delegate *object, uint32_t number)
{
    struct server *server = delegating_server(object, number);
    server->sleeps = false;
    server_serve(server, 1);
}

static inline void delegating_dismiss(const struct delegate *object, uint32_t number)
{
    server_dismiss(delegating_server(object, number));
}

/* Returns the counts of the object's server, or of the object if it has none. */
static inline struct delegating_counts delegating_counts(const struct delegate *object)
{
    const struct delegate_counts *own = &object->counts;
    const struct server *host = delegate_server(object);
    struct delegating_counts counts = {.of_server = host != NULL};
    if (host) {
        const struct server_counts *server = &host->counts;
        counts.sections = load_relaxed(&server->sections);
        counts.holds = load_relaxed(&server->rounds);
        counts.lines = load_relaxed(&server->lines);
        counts.serialised = load_relaxed(&server->serialised);
        counts.replaced = load_relaxed(&server->replaced);
        return counts;
    }
    const uint64_t alone = load_relaxed(&own->alone);
    counts.sections = alone + load_relaxed(&own->sections);
    counts.holds = alone + load_relaxed(&own->holds);
    counts.longest = load_relaxed(&own->longest);
    return counts;
}

#endif
