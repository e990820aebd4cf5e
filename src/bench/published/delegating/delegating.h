/* SPDX-License-Identifier: MIT */
/* Delegates for workloads: the executors of RCL's publication, as their authors wrote
 * them (bench/published/body.h). */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "bench/published/flat_combining.h"
#include "bench/published/rcl.h"
#include "bench/workloads/delegating_counts.h"
#include "delegation/delegate.h"

#include <string.h>

enum { CAN_DELEGATE = true, DELEGATING_SERVERS = 8 };

extern const char *const delegate_names[];

static struct published_server published_servers[DELEGATING_SERVERS];

/* Executors with servers have one worker for each. */
static inline bool delegating_needs_servers(uint64_t executor)
{
    return strcmp(delegate_names[executor], "rcl") == 0;
}

static inline struct published_rcl *delegating_rcl(const struct delegate *delegate)
{
    return (struct published_rcl *)(uintptr_t)load_relaxed(&delegate->server);
}

static inline struct published_combining *
delegating_combining(const struct delegate *delegate)
{
    return (struct published_combining *)(uintptr_t)load_relaxed(&delegate->server);
}

static inline void delegating_init(struct delegate *delegate, uint64_t executor,
                                   uint64_t server, bool ahead)
{
    (void)ahead;
    void *body = map_pages(PUBLISHED_PAGE);
    if (!body)
        die("no memory for an executor");
    if (delegating_needs_servers(executor))
        published_rcl_init((struct published_rcl *)body, &published_servers[server]);
    else if (strcmp(delegate_names[executor], "flat-combining") == 0)
        published_combining_init((struct published_combining *)body);
    else
        die("only rcl and flat-combining have a published form");
    store_relaxed(&delegate->server, (uint64_t)(uintptr_t)body);
}

static inline void delegating_run(struct delegate *delegate, uint64_t executor,
                                  void *(*section)(void *), void *context)
{
    if (delegating_needs_servers(executor))
        published_rcl_run(delegating_rcl(delegate), section, context);
    else
        published_combining_run(delegating_combining(delegate), section, context);
}

static inline void delegating_serve(const struct delegate *object, uint32_t number)
{
    (void)object;
    published_rcl_serve(&published_servers[number]);
}

static inline void delegating_dismiss(const struct delegate *object, uint32_t number)
{
    (void)object;
    store_release(&published_servers[number].ended, 1);
}

/* The published forms count nothing. */
static inline struct delegating_counts delegating_counts(const struct delegate *object)
{
    (void)object;
    return (struct delegating_counts){.sections = 0};
}

#endif
