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
 *   lock      shfl-park, whose waiters sleep; held by a combiner
 *
 * H1. A thread executes sections while it holds the lock, and passes the duty of its
 *     queue on after it has released it: the next combiner waits for the lock itself.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_H_SYNCH_H
#define HASP_DELEGATION_ALGORITHMS_H_SYNCH_H

#include "delegation/algorithms/cc_synch.h"
#include "locks/list/descriptor.h"

/* The word of a cluster's line that holds the tail. */
static inline struct atomic_u32 *h_synch_tail(struct call *cluster)
{
    return &cluster->next;
}

static inline bool h_synch_init(struct delegate *delegate)
{
    uint32_t nodes = node_count();
    delegate->cluster_count = nodes < CLUSTERS_MOST ? nodes : CLUSTERS_MOST;
    delegate->operations = lock_operations_at((unsigned)lock_find("shfl-park"));
    for (uint32_t i = 0; i < delegate->cluster_count; i++) {
        delegate->clusters[i] = call_take();
        cc_queue_init(h_synch_tail(delegate->clusters[i]));
    }
    return true;
}

static inline void *h_synch_run(struct delegate *delegate, void *(*section)(void *),
                                void *context, enum waiting waiting)
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
    delegate->operations->lock(&delegate->lock);
    void *result = cc_queue_execute(place, section, context);
    struct call *following = cc_queue_serve(place.following, &wakes, progress, &served);
    delegate_count(delegate, served);
    delegate->operations->unlock(&delegate->lock);
    call_pass(following, may_park(waiting));
    wakes_end(&wakes);
    return result;
}

static inline void h_synch_destroy(struct delegate *delegate)
{
    for (uint32_t i = 0; i < delegate->cluster_count; i++) {
        cc_queue_destroy(h_synch_tail(delegate->clusters[i]));
        call_give(delegate->clusters[i]);
    }
    delegate->operations->destroy(&delegate->lock);
}

#endif
