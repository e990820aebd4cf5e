/* SPDX-License-Identifier: MIT */
/*
 * H-Synch: a combining queue for each NUMA node, and a lock between their combiners. P.
 * Fatourou, N. Kallimanis, "Revisiting the combining synchronization technique", PPoPP
 * 2012.
 *
 * Idea: as cc_synch.h, but a combiner executes requests of its own node only, so that
 * their lines, and those of the data meanwhile, stay in the node. The combiners queue
 * for the object in a lock.
 *
 *   clusters  for each node a line with the tail of its queue
 *   tail      of the combiners' queue, a CLH lock as in the paper: each waits on the
 *             call of its predecessor, and may sleep there
 *
 * H1. A thread executes sections while it holds the combiners' lock. It releases the
 *     lock before it passes its queue's duty on, and the next combiner of the node
 *     acquires the lock for itself.
 * H2. With one node there are no clusters: the algorithm is cc-synch on `tail`.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_H_SYNCH_H
#define HASP_DELEGATION_ALGORITHMS_H_SYNCH_H

#include "delegation/algorithms/cc_synch.h"

/* The word of a cluster's line that holds the tail. */
static inline struct atomic_u32 *h_synch_tail(struct call *cluster)
{
    return &cluster->next;
}

static inline bool h_synch_init(struct delegate *delegate)
{
    uint32_t nodes = node_count();
    if (nodes > CLUSTERS_MOST)
        nodes = CLUSTERS_MOST;
    delegate->cluster_count = nodes > 1 ? nodes : 0; /* H2 */
    cc_queue_init(&delegate->tail);
    for (uint32_t i = 0; i < delegate->cluster_count; i++) {
        delegate->clusters[i] = call_take();
        cc_queue_init(h_synch_tail(delegate->clusters[i]));
    }
    return true;
}

/* Acquires the combiners' lock. Returns the call that the next combiner waits on, by
 * which the lock is released. The caller keeps the call that it waited on itself. */
static inline struct call *h_synch_lock(struct delegate *delegate, enum waiting waiting)
{
    struct cc_place place;
    cc_queue_join(&delegate->tail, call_to_exchange(), &place);
    if (load_acquire(&place.own->cell) != CALL_COMBINES)
        call_wait(place.own, waiting, &delegate->progress);
    call_exchanged(call_detach(place.own), place.id);
    return place.following;
}

static __attribute__((noinline, unused)) void *
h_synch_run_in_node(struct delegate *delegate, void *(*section)(void *), void *context,
                    enum waiting waiting)
{
    uint32_t node = current_node() % delegate->cluster_count;
    struct atomic_u32 *tail = h_synch_tail(delegate->clusters[node]);
    struct progress *progress = &delegate->progress;
    struct cc_place place;
    if (!cc_queue_enter(tail, section, context, &place) &&
        !cc_queue_wait(place, waiting, progress))
        return cc_queue_end(place.own);
    struct wakes wakes;
    uint32_t served;
    wakes_begin(&wakes, progress, &progress->parkers);
    struct call *successor = h_synch_lock(delegate, waiting);
    void *result = cc_queue_execute(place, section, context);
    struct call *following = cc_queue_serve(place.following, &wakes, progress, &served);
    delegate_count(delegate, served);
    call_pass(successor, may_park(waiting));
    call_pass(following, may_park(waiting));
    wakes_end(&wakes);
    return result;
}

static inline void *h_synch_run(struct delegate *delegate, void *(*section)(void *),
                                void *context, enum waiting waiting)
{
    if (likely(delegate->cluster_count == 0))
        return cc_synch_run(delegate, section, context, waiting);
    return h_synch_run_in_node(delegate, section, context, waiting);
}

static inline void h_synch_destroy(struct delegate *delegate)
{
    for (uint32_t i = 0; i < delegate->cluster_count; i++) {
        cc_queue_destroy(h_synch_tail(delegate->clusters[i]));
        call_give(delegate->clusters[i]);
    }
    cc_queue_destroy(&delegate->tail);
}

#endif
