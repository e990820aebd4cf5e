/* SPDX-License-Identifier: MIT */
/*
 * Delegates: objects whose sections, functions with a context, are executed one at a
 * time, each exactly once, by the calling thread or by another one in its place. The
 * algorithm is an executor (executors.def); they differ in who executes what.
 *
 *   tail, word   of the algorithm; in the line that arrivals write
 *   lock         of executors that call under a lock
 *   progress, counts   written by the thread that executes sections, only
 *
 * D1. A thread executes sections only while it has the object: sections of one object
 *     exclude each other, and each one happens before the next.
 * D2. A caller returns after its section, and sees what that did.
 * D3. An object is destroyed while no thread is in a call; the program orders its
 *     initialisation before the first call, and its destruction after the last one.
 *
 * Between calls, no thread has anything to do for an object, so a process may fork
 * then, and the child use it.
 */
#ifndef HASP_DELEGATION_DELEGATE_H
#define HASP_DELEGATION_DELEGATE_H

#include "delegation/call.h"

enum { CLUSTERS_MOST = 8 };

/* Sums over all times that a thread had the object. */
struct delegate_counts {
    struct atomic_u64 alone;    /* times in which it executed one section */
    struct atomic_u64 holds;    /* times in which it executed several */
    struct atomic_u64 sections; /* in these */
    struct atomic_u64 longest;  /* most in one time */
};

struct delegate {
    uint32_t executor;      /* index in the list */
    uint32_t cluster_count; /* of h_synch.h */
    const struct lock_operations *operations; /* of `lock`, or NULL */
    struct call *clusters[CLUSTERS_MOST];     /* of h_synch.h, directories of lines.h */
    struct lines lines;                       /* of flat_combining.h */
    struct atomic_u64 server;                 /* address; of executors with servers */
    uint32_t server_number; /* among those of the executor; its first one */
    struct atomic_u32 busy;                   /* of adaptive.h */
    uint32_t watched; /* its number at a recorder (watch.h), or 0 */
    struct atomic_u32 period; /* one of so many sections is reported; 0: all */
    struct atomic_u32 tail __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 word;
    struct atomic_u32 sleepers; /* of flat_combining.h */
    struct atomic_u32 asked;    /* of flat_combining.h */
    struct atomic_u32 pinned;   /* of rcl_moving.h: it stays where it is */
    struct lock lock;
    struct progress progress __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 kept; /* of adaptive.h */
    struct delegate_counts counts;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct delegate, counts) + sizeof(struct delegate_counts) -
                       offsetof(struct delegate, progress) <=
                   64,
               "a combiner's data at the end of a hold fits one line");

struct server;

/* Returns the object's server, or NULL. It may change if the executor is rcl-moving. */
static inline struct server *delegate_server(const struct delegate *delegate)
{
    return (struct server *)(uintptr_t)load_acquire(&delegate->server);
}

static inline void delegate_set_server(struct delegate *delegate, struct server *server)
{
    store_release(&delegate->server, (uint64_t)(uintptr_t)server);
}

/* The caller executed one section, and still has the object. */
static inline void delegate_count_alone(struct delegate *delegate)
{
    struct atomic_u64 *alone = &delegate->counts.alone;
    if (STATISTICS)
        store_relaxed(alone, load_relaxed(alone) + 1);
}

/* Counts a time in which the caller executed `sections` sections. It still has the
 * object. */
static inline void delegate_count(struct delegate *delegate, uint32_t sections)
{
    struct delegate_counts *counts = &delegate->counts;
    if (!STATISTICS || !sections)
        return;
    progress_end(&delegate->progress, sections);
    if (sections == 1) {
        delegate_count_alone(delegate);
        return;
    }
    store_relaxed(&counts->holds, load_relaxed(&counts->holds) + 1);
    store_relaxed(&counts->sections, load_relaxed(&counts->sections) + sections);
    if (sections > load_relaxed(&counts->longest))
        store_relaxed(&counts->longest, sections);
}

#endif
