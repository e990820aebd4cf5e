/* SPDX-License-Identifier: MIT */
/*
 * Calls: requests to execute a section, each in a cache line of its own.
 *
 * They come from a pool (locks/memory/pool.h), never from stacks: a late unpark() or a
 * stale read of a call is harmless. Each access to the pool is an atomic operation, so
 * a thread of an executor with a queue keeps a call between its requests, and gives it
 * back when it ends.
 *
 *   cell     WAITING or PARKED until it is settled; then COMBINES: its thread executes
 *            sections, its own first, or DONE: the section has been executed
 *   next     id of the next call, 0 if unknown
 *   section, context, result   written by the caller, and by the thread that executes
 *
 * K1. The store of COMBINES or DONE (release) pairs with wait_for_grant() (acquire):
 *     the thread sees what the sections before it did, and the result.
 * K2. After it has settled a call, a thread uses the call only as an address.
 * K3. A waiter counts itself among the parkers before it parks; park() orders that
 *     before it looks at the cell. A thread settles calls by stores, executes a fence,
 *     and then looks for parkers. So it finds one, or the waiter finds its call
 *     settled.
 *     While there are parkers, or on few CPUs, it settles calls by exchanges, each of
 *     which delays the next section until the line has moved.
 */
#ifndef HASP_DELEGATION_CALL_H
#define HASP_DELEGATION_CALL_H

#include "delegation/progress.h"
#include "locks/waiting/policies.h"

enum call_state {
    CALL_WAITING = WAITER_WAITING,
    CALL_PARKED = WAITER_PARKED,
    CALL_COMBINES = WAITER_GRANTED,
    CALL_DONE = WAITER_HANDED_OVER,
};

/* Whether the object of a request may belong to another server. */
enum call_moves { NEVER_MOVES, MAY_MOVE, HAS_MOVED };

enum {
    CALL_HALF = CACHE_LINE / 2,
    CALL_BYTES = 6 * sizeof(uint32_t) + 4 * sizeof(uint64_t),
    /* Sections that a thread executes for others before it passes that duty on. */
    COMBINED_MOST = HANDOVER_LIMIT == 1 ? 2 : 4 * HANDOVER_LIMIT,
};

struct call {
    struct atomic_u32 cell;
    struct atomic_u32 next;
    struct atomic_u32 asleep; /* of wait_for_grant() */
    uint32_t index; /* lines.h: of the line */
    struct atomic_u64 section, context, result;
    struct atomic_u64 object;   /* of servers: the delegate */
    struct atomic_u32 executed; /* of rcl.h: 1 once a server executes it */
    struct atomic_u32 moves; /* of rcl.h: enum call_moves */
    unsigned char rest[CALL_HALF - CALL_BYTES];
    struct atomic_u32 owned; /* of lines.h, in another line than the request */
    unsigned char more[POOL_PAYLOAD - CALL_HALF - sizeof(uint32_t)];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct call, link) == offsetof(struct pool_slot, link) &&
                   sizeof(struct call) == sizeof(struct pool_slot),
               "a call is a slot of its pool");

extern struct pool call_pool __attribute__((visibility("hidden")));

/* Calls in which an executor searches for requests (algorithms/lines.h). */
struct lines {
    struct call **directories; /* ids of lines */
    uint32_t most;
    uint32_t ahead;          /* lines that are fetched before they are looked at */
    uint32_t own;            /* places, at least, at which threads begin to search */
    struct atomic_u32 count; /* places so far */
};

/* Returns a call that is WAITING and has no next. Never fails (see pool.h). */
struct call *call_take(void) __attribute__((visibility("hidden")));

/* Gives back a call that no thread will settle any more. */
void call_give(struct call *call) __attribute__((visibility("hidden")));

/* The calling thread keeps the call, or gives it back if it keeps one already. */
void call_keep(struct call *call) __attribute__((visibility("hidden")));

/* Gives back what the calling thread keeps; at_thread_end() calls it. */
void call_end_thread(void) __attribute__((visibility("hidden")));

/* A program that has few calls needs no load that depends on the id. */
static inline struct call *call_at(uint32_t id)
{
    if (likely(id < POOL_CHUNK))
        return (struct call *)&call_pool.chunks[0][id];
    return (struct call *)pool_at(&call_pool, id);
}

/* held_nodes()->call is 0 before the thread's first request; then it is the id of the
 * call that the thread keeps, which is prepared but for its cell, or this value while a
 * request uses that call. */
#define CALL_KEPT_NONE UINT32_MAX

static inline bool call_is_kept(uint32_t id)
{
    return likely(id != 0 && id != CALL_KEPT_NONE);
}

/* Prepares the call but for its cell, which the next request does. */
static inline struct call *call_detach(struct call *call)
{
    store_relaxed(&call->next, 0);
    store_relaxed(&call->asleep, 0);
    return call;
}

/* Returns the id of the call that the thread keeps, or of one of the pool. The thread
 * queues it at once, gets another one in its place, and says so by call_exchanged() as
 * soon as nobody else uses that, and before it executes a section. */
static inline uint32_t call_to_exchange(void)
{
    const uint32_t id = load_relaxed(&held_nodes()->call);
    return call_is_kept(id) ? id : call_take()->link.id;
}

/* The call is detached; `id` is its own. */
static inline void call_exchanged(struct call *call, uint32_t id)
{
    struct atomic_u32 *kept = &held_nodes()->call;
    if (call_is_kept(load_relaxed(kept)))
        store_relaxed(kept, id);
    else
        call_keep(call);
}

/* As call_take() and call_give(), but with the call that the thread keeps. A section
 * may do the same meanwhile, for another object. */
static inline struct call *call_take_kept(void)
{
    struct atomic_u32 *kept = &held_nodes()->call;
    const uint32_t id = load_relaxed(kept);
    if (!call_is_kept(id))
        return call_take();
    store_relaxed(kept, CALL_KEPT_NONE);
    struct call *call = call_at(id);
    store_relaxed(&call->cell, CALL_WAITING);
    return call;
}

static inline void call_give_kept(struct call *call)
{
    struct atomic_u32 *kept = &held_nodes()->call;
    if (likely(load_relaxed(kept) == CALL_KEPT_NONE))
        store_relaxed(kept, call_detach(call)->link.id);
    else
        call_keep(call);
}

/* Stores the request; the caller publishes it. */
static inline void call_ask(struct call *call, void *(*section)(void *), void *context)
{
    store_relaxed(&call->section, (uint64_t)(uintptr_t)section);
    store_relaxed(&call->context, (uint64_t)(uintptr_t)context);
}

/* Executes the section of a request. Returns its result. */
static inline void *call_section(const struct call *call)
{
    void *(*section)(void *) =
        (void *(*)(void *))(uintptr_t)load_relaxed(&call->section);
    void *context = (void *)(uintptr_t)load_relaxed(&call->context);
    if (unlikely(!section))
        die("a call has no section");
    return section(context);
}

static inline void call_execute(struct call *call)
{
    store_relaxed(&call->result, (uint64_t)(uintptr_t)call_section(call));
}

static inline void *call_result(const struct call *call)
{
    return (void *)(uintptr_t)load_relaxed(&call->result);
}

static inline void call_spin(struct call *call, const struct progress *progress)
{
    struct progress_view view = {0, 0};
    do {
        for (uint32_t left = spin_limit(); left; left -= relax_at_most(left))
            if (!still_waiting(load_relaxed(&call->cell)))
                return;
    } while (progress_goes_on(&view, progress));
}

/* From now on, until call_woken(), the caller may park on a cell. */
static inline void call_parks(struct atomic_u32 *parkers)
{
    fetch_add_relaxed(parkers, 1);
}

static inline void call_woken(struct atomic_u32 *parkers)
{
    fetch_add_relaxed(parkers, UINT32_MAX);
}

static __attribute__((noinline, unused)) uint32_t call_sleep(struct call *call,
                                                             struct progress *progress)
{
    call_parks(&progress->parkers);
    uint32_t state =
        wait_for_grant(&call->cell, &call->asleep, SPIN_THEN_PARK, false, NULL);
    call_woken(&progress->parkers);
    return state;
}

/* Waits until the call is settled; returns COMBINES or DONE. */
static inline uint32_t call_wait(struct call *call, enum waiting waiting,
                                 struct progress *progress)
{
    if (may_park(waiting)) {
        if (still_waiting(load_relaxed(&call->cell)))
            call_spin(call, progress);
        if (still_waiting(load_relaxed(&call->cell)))
            return call_sleep(call, progress);
    }
    return wait_for_grant(&call->cell, &call->asleep, SPIN, false, NULL);
}

/* Passes the duty to execute sections on to the thread of this call; `may_sleep` says
 * whether that thread can be asleep. Returns whether it is, and has to be woken. */
static inline bool call_pass_only(struct call *call, bool may_sleep)
{
    bool asleep = false;
    if (may_sleep)
        asleep = exchange_release(&call->cell, CALL_COMBINES) == CALL_PARKED;
    else
        store_release(&call->cell, CALL_COMBINES);
    release_window();
    return unlikely(asleep);
}

static inline void call_pass(struct call *call, bool may_sleep)
{
    if (call_pass_only(call, may_sleep))
        unpark(&call->cell, 1);
}

/* Threads that may be asleep although their sections have been executed. They are woken
 * together, because sections wait for the thread that executes them. */
enum { WAKES = HANDOVER_LIMIT == 1 ? 2 : 16 };

struct wakes {
    uint32_t count;
    bool exact; /* these are asleep; otherwise only if there are parkers */
    struct progress *progress;
    struct atomic_u32 *parkers;
    struct atomic_u32 *cells[WAKES];
};

static inline void wakes_begin(struct wakes *wakes, struct progress *progress,
                               struct atomic_u32 *parkers)
{
    wakes->count = 0;
    wakes->progress = progress;
    wakes->parkers = parkers;
    wakes->exact = progress->exact || load_relaxed(parkers) != 0;
}

/* Returns whether threads are to be woken. */
static inline bool wakes_are_due(struct wakes *wakes)
{
    if (!wakes->exact) {
        fence_seq_cst();
        return load_relaxed(wakes->parkers) != 0;
    }
    return true;
}

/* Wakes them. The caller still has the object, and goes on. */
static inline void wakes_flush(struct wakes *wakes)
{
    const bool due = wakes_are_due(wakes);
    for (uint32_t i = 0; due && i < wakes->count; i++) {
        unpark(wakes->cells[i], 1);
        progress_step(wakes->progress);
    }
    wakes->count = 0;
    wakes->exact = wakes->progress->exact || load_relaxed(wakes->parkers) != 0;
}

/* Wakes them; the caller may have passed the object on. */
static inline void wakes_end(struct wakes *wakes)
{
    if (!wakes->count || !wakes_are_due(wakes))
        return;
    for (uint32_t i = 0; i < wakes->count; i++)
        unpark(wakes->cells[i], 1);
}

/* The section of the call has been executed. */
static inline void call_finish(struct call *call, struct wakes *wakes)
{
    struct atomic_u32 *cell = &call->cell;
    if (wakes->exact) {
        if (exchange_release(cell, CALL_DONE) != CALL_PARKED)
            return;
    } else {
        store_release(cell, CALL_DONE);
    }
    wakes->cells[wakes->count++] = cell;
    if (wakes->count == WAKES)
        wakes_flush(wakes);
}

#endif
