/* SPDX-License-Identifier: MIT */
/*
 * MCS queue lock. J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization
 * on shared-memory multiprocessors", TOCS 1991.
 *
 *   tail  1 + the last thread of the queue, 0 free
 *   node  of each thread, on a line of its own: 1 + the successor, and whether it waits
 *
 * Of a thread's state, lock and mine are the pointers to the lock and to its node.
 */
#ifndef HASP_BENCH_PUBLISHED_MCS_H
#define HASP_BENCH_PUBLISHED_MCS_H

#include "bench/published/body.h"

struct published_mcs_node {
    struct atomic_u32 next, waits;
} PUBLISHED_ALONE;

struct published_mcs {
    struct published_thread_state *states;
    struct published_mcs_node *nodes;
};

static inline struct published_mcs published_mcs_of(struct lock *lock)
{
    size_t states = published_threads() * sizeof(struct published_thread_state);
    size_t nodes = published_threads() * sizeof(struct published_mcs_node);
    char *body = published_body(lock, states + nodes);
    return (struct published_mcs){(void *)body, (void *)(body + states)};
}

/* Returns the node of the calling thread. */
static inline struct published_mcs_node *
published_mcs_mine(const struct published_mcs *mcs)
{
    struct published_thread_state *self = &mcs->states[published_thread()];
    (void)load_relaxed(&self->lock);
    (void)load_relaxed(&self->mine);
    return &mcs->nodes[published_thread()];
}

static inline void published_mcs_lock(struct lock *lock, int how)
{
    const struct published_mcs mcs = published_mcs_of(lock);
    struct published_mcs_node *mine = published_mcs_mine(&mcs);
    uint32_t self = published_thread() + 1;
    store_relaxed(&mine->next, 0);
    uint32_t before = exchange_acq_rel(&lock->state[0], self);
    if (!before)
        return;
    store_relaxed(&mine->waits, 1);
    store_release(&mcs.nodes[before - 1].next, self);
    published_spin(&mine->waits, how & PUBLISHED_PREFETCH,
                   !load_acquire(&mine->waits));
}

static inline bool published_mcs_trylock(struct lock *lock, int how)
{
    (void)how;
    const struct published_mcs mcs = published_mcs_of(lock);
    store_relaxed(&published_mcs_mine(&mcs)->next, 0);
    return acquire_if(&lock->state[0], 0, published_thread() + 1);
}

/* Lets the successor of the calling thread pass, if there is one. */
static inline void published_mcs_pass(struct atomic_u32 *tail,
                                      struct published_mcs_node *nodes)
{
    struct published_mcs_node *mine = &nodes[published_thread()];
    uint32_t next = load_acquire(&mine->next);
    if (!next) {
        if (release_if(tail, published_thread() + 1, 0))
            return;
        spin_until((next = load_acquire(&mine->next)) != 0);
    }
    store_release(&nodes[next - 1].waits, 0);
}

static inline void published_mcs_unlock(struct lock *lock, int how)
{
    const struct published_mcs mcs = published_mcs_of(lock);
    struct published_mcs_node *mine = published_mcs_mine(&mcs);
    if (how & PUBLISHED_PREFETCH)
        prefetch_for_write(&mine->next);
    published_mcs_pass(&lock->state[0], mcs.nodes);
}

#endif
