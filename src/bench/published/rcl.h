/* SPDX-License-Identifier: MIT */
/*
 * Remote Core Locking in the form in which its authors measured it. J. Lozi et al.,
 * "Remote core locking", USENIX ATC 2012, section 3.
 *
 *   lock, argument, section   a client's request, a line in the server's array; the
 *                             client waits until the server has reset `section`
 *   held, current             of an object: whether a section of it runs, and for whom
 *
 * All threads of a server share a core, so the server changes `held` without an atomic
 * operation. A section's stores and the answer are therefore in the store buffer while
 * the server already loads the next request.
 */
#ifndef HASP_BENCH_PUBLISHED_RCL_H
#define HASP_BENCH_PUBLISHED_RCL_H

#include "bench/published/body.h"

struct published_request {
    struct atomic_u64 lock, argument, section;
} PUBLISHED_ALONE;

struct published_server {
    struct atomic_u32 ended;
    struct published_request *requests PUBLISHED_ALONE; /* one for each thread */
} PUBLISHED_ALONE;

struct published_rcl {
    struct atomic_u64 current;
    struct atomic_u32 held;
    struct published_server *server;
} PUBLISHED_ALONE;

static inline void published_rcl_init(struct published_rcl *object,
                                      struct published_server *server)
{
    object->server = server;
    if (!server->requests)
        server->requests =
            (struct published_request *)map_pages(published_threads() *
                                                  sizeof(struct published_request));
    if (!server->requests)
        die("no memory for requests");
}

static inline void *published_rcl_run(struct published_rcl *object,
                                      void *(*section)(void *), void *argument)
{
    struct published_request *own = &object->server->requests[published_thread()];
    store_relaxed(&own->lock, (uint64_t)(uintptr_t)object);
    store_relaxed(&own->argument, (uint64_t)(uintptr_t)argument);
    store_release(&own->section, (uint64_t)(uintptr_t)section);
    spin_until(!load_acquire(&own->section));
    return (void *)(uintptr_t)load_relaxed(&own->argument);
}

static inline void published_rcl_execute(struct published_request *request,
                                         uint64_t section)
{
    struct published_rcl *object =
        (struct published_rcl *)(uintptr_t)load_relaxed(&request->lock);
    if (load_relaxed(&object->held))
        return;
    store_relaxed(&object->held, 1);
    store_relaxed(&object->current, (uint64_t)(uintptr_t)request);
    const void *result = ((void *(*)(void *))(uintptr_t)section)(
        (void *)(uintptr_t)load_relaxed(&request->argument));
    store_relaxed(&request->argument, (uint64_t)(uintptr_t)result);
    store_release(&request->section, 0);
    store_release(&object->held, 0);
}

/* The server's loop, until all clients have ended. */
static inline void published_rcl_serve(struct published_server *server)
{
    while (!load_relaxed(&server->ended)) {
        bool found = false;
        for (uint32_t index = 0; index < published_threads(); index++) {
            struct published_request *request = &server->requests[index];
            const uint64_t section = load_acquire(&request->section);
            if (section)
                published_rcl_execute(request, section);
            found |= section != 0;
        }
        if (!found)
            relax();
    }
}

#endif
