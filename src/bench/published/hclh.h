/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical CLH queue lock. V. Luchangco, D. Nussbaum, N. Shavit, "A hierarchical
 * CLH queue lock", Euro-Par 2006; without a combining delay.
 *
 *   state[0]  the global tail, a node; node 0 has no owner, and is free
 *   tail  of each NUMA node's queue: 1 + a node, 0 before the first one
 *   node  one more than there are threads: whether its thread waits or holds the lock,
 *         whether it was last when its queue was spliced into the global one, and its
 *         NUMA node lock, mine, before, of a thread's state: as in clh.h
 *
 * A thread whose predecessor is of its own NUMA node, and was not the last one spliced,
 * waits for it; all other threads are masters, and splice. A node is reused by the
 * successor of its thread. If it was the last one spliced, that successor is a thread
 * of another NUMA node: the next splice of this NUMA node is left to the local
 * successor, which then sees that the node is foreign. For this reason `from` is
 * written first and read last.
 */
#ifndef HASP_BENCH_PUBLISHED_HCLH_H
#define HASP_BENCH_PUBLISHED_HCLH_H

#include "bench/published/body.h"

struct published_hclh_node {
    struct atomic_u8 waits, spliced, from; /* from: 1 + NUMA node */
} PUBLISHED_ALONE;

struct published_hclh_tail {
    struct atomic_u32 tail;
} PUBLISHED_ALONE;

struct published_hclh {
    struct published_thread_state *states;
    struct published_hclh_tail *tails;
    struct published_hclh_node *nodes;
};

static inline struct published_hclh published_hclh_of(struct lock *lock)
{
    size_t states = published_threads() * sizeof(struct published_thread_state);
    size_t tails = node_count() * sizeof(struct published_hclh_tail);
    size_t nodes = (published_threads() + 1) * sizeof(struct published_hclh_node);
    char *body = published_body(lock, states + tails + nodes);
    return (struct published_hclh){(void *)body, (void *)(body + states),
                                   (void *)(body + states + tails)};
}

static inline uint32_t published_hclh_mine(struct published_thread_state *self)
{
    uint32_t mine = load_relaxed(&self->mine);
    return mine ? mine - 1 : published_thread() + 1;
}

/* Waits for a local predecessor. Returns true if it hands over the lock, false if the
 * caller is the next master. */
static inline bool published_hclh_granted(struct published_hclh_node *before,
                                          uint8_t from)
{
    for (;;) {
        bool waits = load_acquire(&before->waits);
        if (load_acquire(&before->spliced) || load_acquire(&before->from) != from)
            return false;
        if (!waits)
            return true;
        relax();
    }
}

/* Waits for the release of the predecessor, and returns its node. */
static inline uint32_t published_hclh_acquire(struct lock *lock,
                                              const struct published_hclh *hclh,
                                              uint32_t self, bool prefetch)
{
    const uint8_t from = (uint8_t)(current_node() + 1);
    struct published_hclh_node *mine = &hclh->nodes[self];
    store_relaxed(&mine->from, from);
    store_relaxed(&mine->spliced, 0);
    store_relaxed(&mine->waits, 1);
    struct atomic_u32 *tail = &hclh->tails[from - 1].tail;
    uint32_t before = exchange_acq_rel(tail, self + 1);
    if (before && published_hclh_granted(&hclh->nodes[before - 1], from))
        return before - 1;
    uint32_t last = load_acquire(tail) - 1;
    before = exchange_acq_rel(&lock->state[0], last);
    store_release(&hclh->nodes[last].spliced, 1);
    struct atomic_u8 *waits = &hclh->nodes[before].waits;
    published_spin(waits, prefetch, !load_acquire(waits));
    return before;
}

static inline void published_hclh_lock(struct lock *lock, bool prefetch)
{
    const struct published_hclh hclh = published_hclh_of(lock);
    struct published_thread_state *self = &hclh.states[published_thread()];
    (void)load_relaxed(&self->lock);
    uint32_t mine = published_hclh_mine(self);
    store_relaxed(&self->before, published_hclh_acquire(lock, &hclh, mine, prefetch));
}

static inline void published_hclh_unlock(struct lock *lock, bool prefetch)
{
    (void)prefetch;
    const struct published_hclh hclh = published_hclh_of(lock);
    struct published_thread_state *self = &hclh.states[published_thread()];
    uint32_t released = published_hclh_mine(self);
    store_relaxed(&self->mine, load_relaxed(&self->before) + 1);
    store_release(&hclh.nodes[released].waits, 0);
}

#endif
