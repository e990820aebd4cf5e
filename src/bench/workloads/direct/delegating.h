/* SPDX-License-Identifier: MIT */
/*
 * Delegates for workloads, in programs that contain the executors; without/delegating.h
 * is for those that do not. The include path picks one of the two.
 *
 * `executor` is an index in delegate_names; 0 stands for the mutex of the workload.
 */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "delegation/list/descriptor.h"
#include "delegation/server.h"

enum { CAN_DELEGATE = true, DELEGATING_SERVERS = SERVERS_MOST };

/* `server` is the number of the object's server, for executors that have some. Without
 * `ahead`, rcl and flat-combining work as published: each thread has a line of its own,
 * and lines are not fetched before they are looked at. */
static inline void delegating_init(struct delegate *delegate, uint64_t executor,
                                   uint64_t server, bool ahead)
{
    if (!delegate_init_at(delegate, (unsigned)executor, NULL, (uint32_t)server))
        die("not enough memory or threads for an executor");
    if (!ahead) {
        struct lines *lines =
            delegate->server ? &delegate->server->lines : &delegate->lines;
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

/* Serves until delegating_dismiss(). */
static inline void delegating_serve(struct delegate *delegate)
{
    delegate->server->sleeps = false;
    server_serve(delegate->server, 1);
}

static inline void delegating_dismiss(struct delegate *delegate)
{
    server_dismiss(delegate->server);
}

/* What an object or a server has done; see include/hasp/delegate.h. */
struct delegating_counts {
    uint64_t sections, holds, longest, lines, serialised, replaced;
    bool of_server;
};

/* Returns the counts of the object's server, or of the object if it has none. */
static inline struct delegating_counts delegating_counts(const struct delegate *object)
{
    const struct delegate_counts *own = &object->counts;
    struct delegating_counts counts = {.of_server = object->server != NULL};
    if (object->server) {
        const struct server_counts *server = &object->server->counts;
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
