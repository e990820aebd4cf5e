/* SPDX-License-Identifier: MIT */
/*
 * ShflLock, the spinning NUMA-aware form. S. Kashyap, I. Calciu, X. Cheng, C. Min, T.
 * Kim, "Scalable and practical locking with shuffling", SOSP 2019: at most 1,024
 * waiters are moved behind one shuffler.
 *
 *   word    0 free, 1 held
 *   tail    1 + the last thread of the queue, 0 empty
 *   queued  1: only the first thread of the queue may take the lock
 *   node    of each thread, on a line of its own: 1 + the successor; 1 + NUMA node;
 *           whether it is first in the queue; whether it is the shuffler; `seen`: 1 +
 *           the waiter that the shuffler before it saw last; `batch`: the number of
 *           waiters moved by the shufflers of its batch, 0 if it was not moved
 */
#ifndef HASP_BENCH_PUBLISHED_SHFL_H
#define HASP_BENCH_PUBLISHED_SHFL_H

#include "bench/published/body.h"

enum { PUBLISHED_SHFL_MOVES = 1024 };

struct published_shfl_node {
    struct atomic_u32 next, from, first, shuffles, seen, batch;
} PUBLISHED_ALONE;

static inline struct published_shfl_node *published_shfl_nodes(struct lock *lock)
{
    return published_body(lock,
                          published_threads() * sizeof(struct published_shfl_node));
}

static inline struct atomic_u32 *published_shfl_tail(struct lock *lock)
{
    return &lock->state[0];
}

static inline struct atomic_u32 *published_shfl_queued(struct lock *lock)
{
    return &lock->state[1];
}

static inline bool published_shfl_trylock(struct lock *lock)
{
    return load_relaxed(&lock->word) == 0 &&
           load_relaxed(published_shfl_queued(lock)) == 0 &&
           acquire_if(&lock->word, 0, 1);
}

/* Returns true if the shuffler has to stop: it may take the lock, or is first. */
static inline bool published_shfl_ends(struct lock *lock,
                                       struct published_shfl_node *mine, bool first)
{
    return first ? load_relaxed(&lock->word) == 0 : load_acquire(&mine->first) != 0;
}

/* Places of a shuffler in the queue: the last waiter that it examined, the last of
 * those that it moved behind itself, and whether there is one. */
struct published_shfl_places {
    uint32_t before, last, batch;
    bool moved;
};

/* Examines the waiter after `before`; returns false if that is the end of the queue. */
static inline bool published_shfl_examine(struct published_shfl_node *nodes,
                                          uint32_t from,
                                          struct published_shfl_places *places)
{
    uint32_t at = load_acquire(&nodes[places->before - 1].next), after;
    if (!at || !(after = load_acquire(&nodes[at - 1].next)))
        return false;
    struct published_shfl_node *node = &nodes[at - 1];
    if (load_relaxed(&node->from) != from) {
        places->before = at;
        return true;
    }
    store_relaxed(&node->batch, ++places->batch);
    if (places->before == places->last) {
        places->before = at;
    } else {
        store_relaxed(&nodes[places->before - 1].next, after);
        store_relaxed(&node->next, load_relaxed(&nodes[places->last - 1].next));
        store_relaxed(&nodes[places->last - 1].next, at);
    }
    places->last = at;
    places->moved = true;
    return true;
}

/* Moves waiters of the shuffler's NUMA node forward, and makes the last of them the
 * next shuffler. */
static inline void published_shfl_shuffle(struct lock *lock, uint32_t self, bool first)
{
    struct published_shfl_node *nodes = published_shfl_nodes(lock);
    struct published_shfl_node *mine = &nodes[self - 1];
    uint32_t from = load_relaxed(&mine->from), seen = load_relaxed(&mine->seen);
    struct published_shfl_places places = {
        .before = seen ? seen : self,
        .last = self,
        .batch = load_relaxed(&mine->batch),
    };
    if (!places.batch)
        store_relaxed(&mine->batch, ++places.batch);
    store_relaxed(&mine->shuffles, 0);
    if (places.batch >= PUBLISHED_SHFL_MOVES)
        return;
    while (published_shfl_examine(nodes, from, &places))
        if (places.moved && published_shfl_ends(lock, mine, first))
            break;
    struct published_shfl_node *next = &nodes[places.last - 1];
    if (places.before != places.last)
        store_relaxed(&next->seen, places.before);
    store_release(&next->shuffles, 1);
}

static inline void published_shfl_wait_for_queue(struct lock *lock, uint32_t self,
                                                 uint32_t before)
{
    struct published_shfl_node *nodes = published_shfl_nodes(lock);
    struct published_shfl_node *mine = &nodes[self - 1];
    store_release(&nodes[before - 1].next, self);
    while (!load_acquire(&mine->first)) {
        if (load_acquire(&mine->shuffles)) {
            published_shfl_shuffle(lock, self, false);
            (void)relax_at_most(1); /* the next wait does not watch nodes read above */
            if (load_acquire(&mine->first))
                return;
        }
        relax();
    }
}

static inline void published_shfl_leave_queue(struct lock *lock, uint32_t self)
{
    struct published_shfl_node *nodes = published_shfl_nodes(lock);
    uint32_t next = load_acquire(&nodes[self - 1].next);
    if (!next) {
        if (release_if(published_shfl_tail(lock), self, 0)) {
            store_relaxed(published_shfl_queued(lock), 0);
            return;
        }
        spin_until((next = load_acquire(&nodes[self - 1].next)) != 0);
    }
    store_release(&nodes[next - 1].first, 1);
}

static inline void published_shfl_lock(struct lock *lock)
{
    if (published_shfl_trylock(lock))
        return;
    uint32_t self = published_thread() + 1;
    struct published_shfl_node *mine = &published_shfl_nodes(lock)[self - 1];
    store_relaxed(&mine->next, 0);
    store_relaxed(&mine->first, 0);
    store_relaxed(&mine->shuffles, 0);
    store_relaxed(&mine->seen, 0);
    store_relaxed(&mine->batch, 0);
    store_relaxed(&mine->from, current_node() + 1);
    uint32_t before = exchange_acq_rel(published_shfl_tail(lock), self);
    if (before)
        published_shfl_wait_for_queue(lock, self, before);
    else
        store_relaxed(published_shfl_queued(lock), 1);
    do {
        if (!load_relaxed(&mine->batch) || load_acquire(&mine->shuffles)) {
            published_shfl_shuffle(lock, self, true);
            (void)relax_at_most(1);
        }
        spin_until(load_relaxed(&lock->word) == 0);
    } while (!acquire_if(&lock->word, 0, 1));
    published_shfl_leave_queue(lock, self);
}

static inline void published_shfl_unlock(struct lock *lock)
{
    store_release(&lock->word, 0);
}

#endif
