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
 *     acquire).
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

/* Queues a request; returns its call. */
static inline struct call *cc_queue_ask(struct atomic_u32 *tail,
                                        void *(*section)(void *), void *context)
{
    uint32_t fresh = call_take_kept()->link.id;
    struct call *own = call_at(exchange_acq_rel(tail, fresh));
    call_ask(own, section, context);
    store_release(&own->next, fresh);
    return own;
}

/* Executes the requests from the caller's own one on. Returns the call that is to be
 * COMBINES next; `*served` is the number of sections. */
static inline struct call *cc_queue_serve(struct call *own, struct wakes *wakes,
                                          struct progress *progress, uint32_t *served)
{
    struct call *call = own;
    uint32_t next, count = 0;
    while (count < COMBINED_MOST && (next = load_acquire(&call->next)) != 0) {
        struct call *following = call_at(next);
        prefetch_for_write(&following->cell);
        call_execute(call);
        count++;
        progress_show(progress, count);
        if (call != own)
            call_finish(call, wakes);
        call = following;
    }
    *served = count;
    return call;
}

/* Returns the result of a call that has been executed, and gives it back. */
static inline void *cc_queue_end(struct call *own)
{
    void *result = call_result(own);
    call_give_kept(own);
    return result;
}

static inline bool cc_synch_init(struct delegate *delegate)
{
    cc_queue_init(&delegate->tail);
    return true;
}

static inline void *cc_synch_run(struct delegate *delegate, void *(*section)(void *),
                                 void *context, enum waiting waiting)
{
    struct call *own = cc_queue_ask(&delegate->tail, section, context);
    if (call_wait(own, waiting, &delegate->progress) == CALL_COMBINES) {
        struct wakes wakes;
        uint32_t served;
        wakes_begin(&wakes, &delegate->progress, &delegate->progress.parkers);
        struct call *following =
            cc_queue_serve(own, &wakes, &delegate->progress, &served);
        delegate_count(delegate, served);
        call_pass(following, may_park(waiting));
        wakes_end(&wakes);
    }
    return cc_queue_end(own);
}

static inline void cc_synch_destroy(struct delegate *delegate)
{
    cc_queue_destroy(&delegate->tail);
}

#endif
