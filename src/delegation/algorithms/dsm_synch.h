/* SPDX-License-Identifier: MIT */
/*
 * DSM-Synch: a combining queue in which each thread waits on a call of its own. P.
 * Fatourou, N. Kallimanis, "Revisiting the combining synchronization technique", PPoPP
 * 2012.
 *
 * Idea: as cc_synch.h, but a thread queues the call with its request, as in an MCS
 * lock, and knows its line before it queues. So that line can be in its own memory; the
 * price is that a combiner that finds the end has to free the tail, or to wait for the
 * link of a thread that has just queued.
 *
 *   tail  id of the last call, 0 if the object is free
 *
 * M1. A thread that found the object free has it; one that found another call links
 *     itself (release, pairs with the combiner's acquire).
 * M2. The combiner settles a call only when it knows the next one, or when it has freed
 *     the tail, because a call that is settled can be used anew.
 *
 * The exchange of the tail (acquire) pairs with the one that freed it (release).
 */
#ifndef HASP_DELEGATION_ALGORITHMS_DSM_SYNCH_H
#define HASP_DELEGATION_ALGORITHMS_DSM_SYNCH_H

#include "delegation/call.h"
#include "delegation/delegate.h"

static inline bool dsm_synch_init(struct delegate *delegate)
{
    (void)delegate; /* zeroed memory is a free object */
    return true;
}

/* Returns the call after this one, or 0 if there is none and the object is free now. */
static inline uint32_t dsm_synch_next(struct delegate *delegate, struct call *call,
                                      uint32_t served, uint32_t *counted)
{
    uint32_t next = load_acquire(&call->next), last = call->link.id;
    if (next)
        return next;
    delegate_count(delegate, served - *counted);
    *counted = served;
    if (compare_exchange_release(&delegate->tail, &last, 0))
        return 0;
    struct spinner spinner = {0, 0};
    while ((next = load_acquire(&call->next)) == 0)
        spinner_spin(&spinner, NULL);
    return next;
}

/* Executes the requests from the caller's own one on. */
static inline void dsm_synch_serve(struct delegate *delegate, struct call *own)
{
    struct call *call = own;
    struct wakes wakes;
    uint32_t served = 0, counted = 0, next;
    wakes_begin(&wakes, &delegate->progress, &delegate->progress.parkers);
    do {
        if ((next = load_relaxed(&call->next)) != 0)
            prefetch_for_write(&call_at(next)->cell);
        call_execute(call);
        served++;
        progress_show(&delegate->progress, served);
        next = dsm_synch_next(delegate, call, served, &counted);
        if (call != own)
            call_finish(call, &wakes);
        if (next)
            call = call_at(next);
    } while (next && served < COMBINED_MOST);
    if (next) {
        delegate_count(delegate, served - counted);
        call_pass(call, true);
    }
    wakes_end(&wakes);
}

static inline void *dsm_synch_run(struct delegate *delegate, void *(*section)(void *),
                                  void *context, enum waiting waiting)
{
    struct call *own = call_take_kept();
    call_ask(own, section, context);
    uint32_t before = exchange_acq_rel(&delegate->tail, own->link.id);
    uint32_t state = CALL_COMBINES;
    if (before) {
        store_release(&call_at(before)->next, own->link.id);
        state = call_wait(own, waiting, &delegate->progress);
    }
    if (state == CALL_COMBINES)
        dsm_synch_serve(delegate, own);
    void *result = call_result(own);
    call_give_kept(own);
    return result;
}

static inline void dsm_synch_destroy(struct delegate *delegate)
{
    (void)delegate; /* a free object has no call */
}

#endif
