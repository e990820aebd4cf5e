/* SPDX-License-Identifier: MIT */
/*
 * CC-Synch: a combining queue. P. Fatourou, N. Kallimanis, "Revisiting the combining
 * synchronization technique", PPoPP 2012.
 *
 * Idea: a thread puts a fresh call at the end of the queue by one exchange, and writes
 * its request into the call that was the end before. The thread at the head executes
 * the requests one after the other; it reads one line for each, and their threads wait
 * on their own lines. It stops where no request follows, and never waits for one.
 *
 *   tail  id of the last call, which has no request yet
 *
 * Q1. The last call has no `next`. A thread sets the `next` of the call that it got
 *     from its exchange, after its request (release, pairs with the combiner's
 *     acquire), unless that call is COMBINES already: then nobody else uses it.
 * Q2. One call of the queue is COMBINES, or its thread is combining: the first one that
 *     is not executed. If the queue is idle, that is the last call.
 * Q3. The combiner reads `next` before it settles a call (K2).
 *
 * A combiner ends after COMBINED_MOST sections, so that its own thread goes on.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_CC_SYNCH_H
#define HASP_DELEGATION_ALGORITHMS_CC_SYNCH_H

#include "delegation/call.h"
#include "delegation/delegate.h"

/* Makes an idle queue. */
static inline void cc_queue_init(struct atomic_u32 *tail)
{
    struct call *last = call_take();
    store_relaxed(&last->cell, CALL_COMBINES);
    store_relaxed(tail, last->link.id);
}

/* Frees the last call of an idle queue. */
static inline void cc_queue_destroy(struct atomic_u32 *tail)
{
    call_give(call_at(load_relaxed(tail)));
}

/* A thread's place in a queue: its call, and the one after it. */
struct cc_place {
    struct call *own, *following;
    uint32_t id; /* of `own` */
};

/* Puts this fresh call at the end of the queue. */
static inline void cc_queue_join(struct atomic_u32 *tail, uint32_t fresh,
                                 struct cc_place *place)
{
    place->following = call_at(fresh);
    store_relaxed(&place->following->cell, CALL_WAITING);
    place->id = exchange_acq_rel(tail, fresh);
    place->own = call_at(place->id);
}

/* Enters the queue with this fresh call. Returns whether the caller is to combine at
 * once; nobody else uses its call then. The request is stored before the cell is read,
 * because most callers have to fetch that line: once, for writing. */
static inline bool cc_queue_enter_with(struct atomic_u32 *tail, uint32_t fresh,
                                       void *(*section)(void *), void *context,
                                       struct cc_place *place)
{
    cc_queue_join(tail, fresh, place);
    call_ask(place->own, section, context);
    return load_acquire(&place->own->cell) == CALL_COMBINES;
}

/* The same with a call of its own choice. If the caller is to combine, it keeps the
 * call that it got. */
static inline bool cc_queue_enter(struct atomic_u32 *tail, void *(*section)(void *),
                                  void *context, struct cc_place *place)
{
    if (!cc_queue_enter_with(tail, call_to_exchange(), section, context, place))
        return false;
    call_exchanged(place->own, place->id);
    return true;
}

/* Publishes the request, and waits until it has been executed, or until the caller is
 * to combine. Returns whether it is. Then nobody else uses its call, which the thread
 * keeps: sections that it executes may use it for requests to other objects. */
static inline bool cc_queue_wait(struct cc_place place, enum waiting waiting,
                                 struct progress *progress)
{
    store_release(&place.own->next, place.following->link.id);
    if (call_wait(place.own, waiting, progress) != CALL_COMBINES)
        return false;
    call_exchanged(call_detach(place.own), place.id);
    return true;
}

/* Executes the requests from this call on, after the caller's own one. Returns the call
 * that is to be COMBINES next. */
static inline struct call *cc_queue_serve(struct call *call, struct wakes *wakes,
                                          struct progress *progress, uint32_t *served)
{
    uint32_t next, count = 1;
    progress_show(progress, count);
    while (count < COMBINED_MOST && (next = load_acquire(&call->next)) != 0) {
        struct call *following = call_at(next);
        prefetch_for_write(&following->cell);
        call_execute(call);
        count++;
        progress_show(progress, count);
        call_finish(call, wakes);
        call = following;
    }
    *served = count;
    return call;
}

/* Executes the caller's own section. The caller combines. */
static inline void *cc_queue_execute(struct cc_place place, void *(*section)(void *),
                                     void *context)
{
    prefetch_for_write(&place.following->cell);
    return section(context);
}

/* Returns the result of a call that another thread has executed. */
static inline void *cc_queue_end(struct call *own)
{
    void *result = call_result(own);
    call_exchanged(call_detach(own), own->link.id);
    return result;
}

static inline bool cc_synch_init(struct delegate *delegate)
{
    cc_queue_init(&delegate->tail);
    return true;
}

/* Executes the requests from this call on, and passes the duty on. This function and
 * the next one return `result`, so that their caller need not save it. */
static __attribute__((noinline, unused)) void *cc_synch_serve(struct delegate *delegate,
                                                              struct call *call,
                                                              enum waiting waiting,
                                                              void *result)
{
    struct wakes wakes;
    uint32_t served;
    wakes_begin(&wakes, &delegate->progress, &delegate->progress.parkers);
    call = cc_queue_serve(call, &wakes, &delegate->progress, &served);
    delegate_count(delegate, served);
    call_pass(call, may_park(waiting));
    wakes_end(&wakes);
    return result;
}

static __attribute__((noinline, unused)) void *cc_synch_wake(struct call *call,
                                                             void *result)
{
    unpark(&call->cell, 1);
    return result;
}

static inline void *cc_synch_combine(struct delegate *delegate, struct cc_place place,
                                     void *(*section)(void *), void *context,
                                     enum waiting waiting)
{
    void *result = cc_queue_execute(place, section, context);
    if (unlikely(delegate->progress.holds_are_long) ||
        unlikely(load_relaxed(&place.following->next)))
        return cc_synch_serve(delegate, place.following, waiting, result);
    delegate_count_alone(delegate);
    if (call_pass_only(place.following, may_park(waiting)))
        return cc_synch_wake(place.following, result);
    return result;
}

static __attribute__((noinline, unused)) void *
cc_synch_wait(struct delegate *delegate, struct cc_place place,
              void *(*section)(void *), void *context, enum waiting waiting)
{
    if (!cc_queue_wait(place, waiting, &delegate->progress))
        return cc_queue_end(place.own);
    return cc_synch_combine(delegate, place, section, context, waiting);
}

/* The thread keeps no call. */
static __attribute__((noinline, unused)) void *
cc_synch_first(struct delegate *delegate, void *(*section)(void *), void *context,
               enum waiting waiting)
{
    struct cc_place place;
    if (cc_queue_enter(&delegate->tail, section, context, &place))
        return cc_synch_combine(delegate, place, section, context, waiting);
    return cc_synch_wait(delegate, place, section, context, waiting);
}

static inline void *cc_synch_run(struct delegate *delegate, void *(*section)(void *),
                                 void *context, enum waiting waiting)
{
    struct cc_place place;
    struct atomic_u32 *kept = &held_nodes()->call;
    const uint32_t fresh = load_relaxed(kept);
    if (!call_is_kept(fresh))
        return cc_synch_first(delegate, section, context, waiting);
    if (unlikely(
            !cc_queue_enter_with(&delegate->tail, fresh, section, context, &place)))
        return cc_synch_wait(delegate, place, section, context, waiting);
    store_relaxed(kept, place.id);
    return cc_synch_combine(delegate, place, section, context, waiting);
}

static inline void cc_synch_destroy(struct delegate *delegate)
{
    cc_queue_destroy(&delegate->tail);
}

#endif
