/* SPDX-License-Identifier: MIT */
/*
 * Delegates for workloads: CC-Synch and flat combining as their papers have them, for
 * comparison with Hasp's on this host. Not the authors' code.
 *
 * P. Fatourou, N. Kallimanis, "Revisiting the combining synchronization technique",
 * PPoPP 2012: a thread keeps the request that it has got from the queue for its next
 * call. D. Hendler et al., "Flat combining and the synchronization-parallelism
 * tradeoff", SPAA 2010: each thread has a record in a list; without the removal of
 * unused records, which no workload here would need.
 *
 * Waiters spin, and yield as relax_or_yield() does; nothing is counted. There is one
 * object in a process, sections do not nest, and memory is never given back.
 */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_H
#define HASP_BENCH_WORKLOADS_DELEGATING_H

#include "bench/workloads/delegating_unserved.h"

#include <string.h>

enum { CAN_DELEGATE = true };

/* How many sections a combiner executes, for each CPU, and how often it goes through
 * the list: as in the framework of CC-Synch's authors. */
enum { PEER_SECTIONS = 10, PEER_PASSES = 3 };

extern const char *const delegate_names[];

/* A request of CC-Synch, or a thread's record of flat combining. `waits` is 1 until
 * the section has been executed; in CC-Synch, or until it is the caller's turn to
 * combine. */
struct peer_request {
    struct atomic_u64 next, section, context;
    struct atomic_u32 waits, executed;
} __attribute__((aligned(CACHE_LINE)));

static struct {
    struct atomic_u64 tail __attribute__((aligned(CACHE_LINE))); /* of CC-Synch */
    struct atomic_u32 latch __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 records; /* of flat combining */
    uint32_t limit __attribute__((aligned(CACHE_LINE)));
    bool combines_flat, exists;
} peer;

static __thread struct peer_request *peer_own;

static inline struct peer_request *peer_at(uint64_t address)
{
    return (struct peer_request *)(uintptr_t)address;
}

static inline struct peer_request *peer_new(void)
{
    struct peer_request *request = map_pages(sizeof *request);
    if (!request)
        die("no memory for a request");
    return request;
}

static inline void delegating_init(struct delegate *delegate, uint64_t executor,
                                   uint64_t server, bool ahead)
{
    (void)delegate, (void)server, (void)ahead;
    peer.combines_flat = strcmp(delegate_names[executor], "flat-combining") == 0;
    if (!peer.combines_flat && strcmp(delegate_names[executor], "cc-synch") != 0)
        die("only cc-synch and flat-combining have a published form here");
    if (peer.exists)
        die("the published forms are for one object");
    peer.exists = true;
    peer.limit = PEER_SECTIONS * cpu_count();
    store_relaxed(&peer.tail, (uint64_t)(uintptr_t)peer_new());
}

static inline void peer_execute(struct peer_request *request)
{
    void *(*section)(void *) =
        (void *(*)(void *))(uintptr_t)load_relaxed(&request->section);
    const void *result = section((void *)(uintptr_t)load_relaxed(&request->context));
    store_relaxed(&request->context, (uint64_t)(uintptr_t)result);
}

/* The caller is at the head of the queue. */
static inline void peer_serve(struct peer_request *request)
{
    uint64_t next;
    for (uint32_t count = 0;
         count < peer.limit && (next = load_acquire(&request->next)) != 0; count++) {
        prefetch_for_write(&peer_at(next)->next);
        peer_execute(request);
        store_relaxed(&request->executed, 1);
        store_release(&request->waits, 0);
        request = peer_at(next);
    }
    store_release(&request->waits, 0);
}

static inline void peer_queue_run(void *(*section)(void *), void *context)
{
    struct peer_request *fresh = peer_own ? peer_own : peer_new();
    store_relaxed(&fresh->next, 0);
    store_relaxed(&fresh->executed, 0);
    store_relaxed(&fresh->waits, 1);
    struct peer_request *own =
        peer_at(exchange_acq_rel(&peer.tail, (uint64_t)(uintptr_t)fresh));
    store_relaxed(&own->section, (uint64_t)(uintptr_t)section);
    store_relaxed(&own->context, (uint64_t)(uintptr_t)context);
    store_release(&own->next, (uint64_t)(uintptr_t)fresh);
    peer_own = own;
    for (uint32_t turns = 0; load_acquire(&own->waits);)
        relax_or_yield(&turns);
    if (!load_relaxed(&own->executed))
        peer_serve(own);
}

/* The caller has the latch. */
static inline void peer_combine(void)
{
    for (int pass = 0; pass < PEER_PASSES; pass++)
        for (struct peer_request *record = peer_at(load_acquire(&peer.records)); record;
             record = peer_at(load_relaxed(&record->next))) {
            if (!load_acquire(&record->waits))
                continue;
            peer_execute(record);
            store_release(&record->waits, 0);
        }
    store_release(&peer.latch, 0);
}

static inline struct peer_request *peer_enter(void)
{
    struct peer_request *record = peer_new();
    uint64_t first = load_relaxed(&peer.records);
    do
        store_relaxed(&record->next, first);
    while (!compare_exchange_acq_rel(&peer.records, &first,
                                     (uint64_t)(uintptr_t)record));
    return peer_own = record;
}

static inline void peer_list_run(void *(*section)(void *), void *context)
{
    struct peer_request *own = peer_own ? peer_own : peer_enter();
    store_relaxed(&own->section, (uint64_t)(uintptr_t)section);
    store_relaxed(&own->context, (uint64_t)(uintptr_t)context);
    store_release(&own->waits, 1);
    for (uint32_t turns = 0; load_acquire(&own->waits);) {
        if (!load_relaxed(&peer.latch) && acquire_if(&peer.latch, 0, 1))
            peer_combine();
        else
            relax_or_yield(&turns);
    }
}

static inline void delegating_run(struct delegate *delegate, uint64_t executor,
                                  void *(*section)(void *), void *context)
{
    (void)delegate, (void)executor;
    if (peer.combines_flat)
        peer_list_run(section, context);
    else
        peer_queue_run(section, context);
}

#endif
