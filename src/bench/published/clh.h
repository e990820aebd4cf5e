/* SPDX-License-Identifier: MIT */
/*
 * CLH queue lock. T. Craig, "Building FIFO and priority-queuing spin locks from atomic
 * swap", TR 93-02-02, University of Washington, 1993; P. Magnusson, A. Landin, E.
 * Hagersten, "Queue locks on cache coherent multiprocessors", IPPS 1994.
 *
 *   tail  the number of the last node; node 0 has no owner, and is free
 *   node  one more than there are threads, each on a line of its own: 1 while its
 *         thread holds the lock or waits
 *   word  in the lock study's library, the tail; the holder's mutex is on its line
 *
 * Of a thread's state:
 *
 *   lock    the pointer to the lock
 *   mine    1 + the node that it uses next, 0 for the one after its number
 *   before  the node of its predecessor
 */
#ifndef HASP_BENCH_PUBLISHED_CLH_H
#define HASP_BENCH_PUBLISHED_CLH_H

#include "bench/published/waiting.h"

struct published_clh_node {
    struct atomic_u32 waits;
} PUBLISHED_ALONE;

struct published_clh {
    struct published_thread_state *states;
    struct published_clh_node *nodes;
};

static inline struct published_clh published_clh_of(struct lock *lock)
{
    size_t states = published_threads() * sizeof(struct published_thread_state);
    size_t nodes = (published_threads() + 1) * sizeof(struct published_clh_node);
    char *body = published_body(lock, states + nodes);
    return (struct published_clh){(void *)body, (void *)(body + states)};
}

static inline uint32_t published_clh_mine(struct published_thread_state *self)
{
    uint32_t mine = load_relaxed(&self->mine);
    return mine ? mine - 1 : published_thread() + 1;
}

static inline struct atomic_u32 *published_clh_tail(struct lock *lock, int how)
{
    return how & PUBLISHED_STUDY ? &lock->word : &lock->state[0];
}

static inline void published_clh_lock(struct lock *lock, int how)
{
    const struct published_clh clh = published_clh_of(lock);
    struct published_thread_state *self = &clh.states[published_thread()];
    (void)load_relaxed(&self->lock);
    uint32_t mine = published_clh_mine(self);
    store_relaxed(&clh.nodes[mine].waits, 1);
    uint32_t before = exchange_acq_rel(published_clh_tail(lock, how), mine);
    struct atomic_u32 *waits = &clh.nodes[before].waits;
    if (how & PUBLISHED_PARKS)
        published_await(waits, how);
    else
        published_spin(waits, how & PUBLISHED_PREFETCH, !load_acquire(waits));
    store_relaxed(&self->before, before);
}

static inline void published_clh_unlock(struct lock *lock, int how)
{
    const struct published_clh clh = published_clh_of(lock);
    struct published_thread_state *self = &clh.states[published_thread()];
    uint32_t released = published_clh_mine(self);
    store_relaxed(&self->mine, load_relaxed(&self->before) + 1);
    published_wake(&clh.nodes[released].waits, how);
}

#endif
