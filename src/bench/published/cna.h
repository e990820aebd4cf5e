/* SPDX-License-Identifier: MIT */
/*
 * Compact NUMA-aware lock. D. Dice, A. Kogan, "Compact NUMA-aware locks", EuroSys 2019:
 * the secondary queue returns to the front with probability 1/65,536 at each handover,
 * and if the main queue has no waiter of the holder's NUMA node.
 *
 *   tail   1 + the last thread of the main queue, 0 free
 *   node   of each thread, on a line of its own:
 *     next    1 + the successor
 *     grant   0 while its thread waits; 1 if the secondary queue is empty, otherwise
 *             2 + the first thread of that queue
 *     from    1 + NUMA node; 0: not known, because the lock was free
 *     last    of the first node in the secondary queue: 1 + the last thread in it
 */
#ifndef HASP_BENCH_PUBLISHED_CNA_H
#define HASP_BENCH_PUBLISHED_CNA_H

#include "bench/published/body.h"

enum { PUBLISHED_CNA_FLUSH = 1 << 16 };

struct published_cna_node {
    struct atomic_u32 next, grant, from, last;
} PUBLISHED_ALONE;

/* A queue and the nodes of the threads. */
struct published_cna {
    struct atomic_u32 *tail;
    struct published_cna_node *nodes;
};

/* Returns the node of a thread, given 1 + its number. */
static inline struct published_cna_node *
published_cna_node(const struct published_cna *cna, uint32_t thread)
{
    return &cna->nodes[thread - 1];
}

static inline void published_cna_acquire(const struct published_cna *cna, uint32_t self)
{
    struct published_cna_node *mine = published_cna_node(cna, self);
    store_relaxed(&mine->next, 0);
    store_relaxed(&mine->from, 0);
    store_relaxed(&mine->grant, 0);
    uint32_t before = exchange_acq_rel(cna->tail, self);
    if (!before) {
        store_relaxed(&mine->grant, 1);
        return;
    }
    store_relaxed(&mine->from, current_node() + 1);
    store_release(&published_cna_node(cna, before)->next, self);
    spin_until(load_acquire(&mine->grant));
}

/* Appends the waiters from `first` to `last` to the secondary queue of the holder. */
static inline void published_cna_move(const struct published_cna *cna,
                                      struct published_cna_node *mine, uint32_t first,
                                      uint32_t last)
{
    uint32_t grant = load_relaxed(&mine->grant);
    uint32_t head = grant > 1 ? grant - 1 : first;
    struct published_cna_node *at = published_cna_node(cna, head);
    if (grant > 1) {
        uint32_t end = load_relaxed(&at->last);
        store_relaxed(&published_cna_node(cna, end)->next, first);
    } else {
        store_relaxed(&mine->grant, first + 1);
    }
    store_relaxed(&published_cna_node(cna, last)->next, 0);
    store_relaxed(&at->last, last);
}

/* Returns the first waiter of the holder's NUMA node, after it has moved those before
 * it to the secondary queue; 0 if there is none. */
static inline uint32_t published_cna_local(const struct published_cna *cna,
                                           struct published_cna_node *mine)
{
    uint32_t from = load_relaxed(&mine->from);
    uint32_t first = load_acquire(&mine->next), last = 0;
    if (!from)
        from = current_node() + 1;
    for (uint32_t at = first; at;) {
        struct published_cna_node *node = published_cna_node(cna, at);
        if (load_acquire(&node->from) == from) {
            if (last)
                published_cna_move(cna, mine, first, last);
            return at;
        }
        last = at;
        at = load_acquire(&node->next);
    }
    return 0;
}

/* True once in that many calls. */
static inline bool published_cna_flushes(uint32_t odds)
{
    static uint64_t random[PUBLISHED_THREADS];
    return published_random(&random[published_thread()]) % odds == 0;
}

/* Called if the main queue may be empty. Returns true if the lock was released or
 * handed to the secondary queue. */
static inline bool published_cna_end(const struct published_cna *cna, uint32_t self)
{
    uint32_t grant = load_relaxed(&published_cna_node(cna, self)->grant);
    if (grant == 1)
        return release_if(cna->tail, self, 0);
    struct published_cna_node *head = published_cna_node(cna, grant - 1);
    if (!release_if(cna->tail, self, load_relaxed(&head->last)))
        return false;
    store_release(&head->grant, 1);
    return true;
}

/* `successor` is that of published_cna_local(). */
static inline void published_cna_pass(const struct published_cna *cna, uint32_t self,
                                      uint32_t successor)
{
    struct published_cna_node *mine = published_cna_node(cna, self);
    uint32_t grant = load_relaxed(&mine->grant);
    if (successor) {
        store_release(&published_cna_node(cna, successor)->grant, grant);
        return;
    }
    uint32_t next = load_acquire(&mine->next);
    if (grant > 1) {
        struct published_cna_node *head = published_cna_node(cna, grant - 1);
        uint32_t last = load_relaxed(&head->last);
        store_relaxed(&published_cna_node(cna, last)->next, next);
        next = grant - 1;
    }
    store_release(&published_cna_node(cna, next)->grant, 1);
}

/* Waits until the main queue has a waiter. Returns false if the lock was released or
 * handed over instead. */
static inline bool published_cna_queued(const struct published_cna *cna, uint32_t self)
{
    struct published_cna_node *mine = published_cna_node(cna, self);
    if (!load_acquire(&mine->next)) {
        if (published_cna_end(cna, self))
            return false;
        spin_until(load_acquire(&mine->next));
    }
    return true;
}

static inline void published_cna_release(const struct published_cna *cna, uint32_t self,
                                         uint32_t odds)
{
    if (!published_cna_queued(cna, self))
        return;
    uint32_t successor = 0;
    if (!published_cna_flushes(odds))
        successor = published_cna_local(cna, published_cna_node(cna, self));
    published_cna_pass(cna, self, successor);
}

static inline struct published_cna published_cna_of(struct lock *lock)
{
    return (struct published_cna){
        &lock->state[0],
        published_body(lock, published_threads() * sizeof(struct published_cna_node))};
}

static inline void published_cna_lock(struct lock *lock)
{
    const struct published_cna cna = published_cna_of(lock);
    published_cna_acquire(&cna, published_thread() + 1);
}

static inline void published_cna_unlock(struct lock *lock)
{
    const struct published_cna cna = published_cna_of(lock);
    published_cna_release(&cna, published_thread() + 1, PUBLISHED_CNA_FLUSH);
}

#endif
