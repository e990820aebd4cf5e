/* SPDX-License-Identifier: MIT */
/*
 * Malthusian lock, the form MCSCR whose waiters spin. D. Dice, "Malthusian locks",
 * EuroSys 2017: the eldest passive thread is served with probability 1/1,000 at each
 * handover. In the lock study's library, waiters may also sleep, and a release reads
 * the tail to learn whether its successor is the last in the queue.
 *
 *   tail     1 + the last thread of the queue, 0 free
 *   passive  on a line of its own: 1 + the latest and the eldest thread that were taken
 *            out of the queue
 *   node     of each thread, on a line of its own: 1 + the successor; whether it waits,
 *            in the lock study's library on the next line; while it is passive, 1 + its
 *            neighbours in the list
 */
#ifndef HASP_BENCH_PUBLISHED_MALTHUSIAN_H
#define HASP_BENCH_PUBLISHED_MALTHUSIAN_H

#include "bench/published/waiting.h"

enum { PUBLISHED_MALTHUSIAN_ELDEST = 1000 };

struct published_malthusian_node {
    struct atomic_u32 next, waits, younger, older;
    struct atomic_u32 waits_apart PUBLISHED_NEXT_LINE;
} PUBLISHED_ALONE;

struct published_malthusian {
    struct atomic_u32 latest, eldest;
    struct published_malthusian_node nodes[];
} PUBLISHED_ALONE;

static inline struct published_malthusian *published_malthusian_of(struct lock *lock)
{
    size_t nodes = published_threads() * sizeof(struct published_malthusian_node);
    return published_body(lock, sizeof(struct published_malthusian) + nodes);
}

static inline struct atomic_u32 *
published_malthusian_waits(struct published_malthusian *own, uint32_t thread, int how)
{
    struct published_malthusian_node *node = &own->nodes[thread - 1];
    return how & PUBLISHED_STUDY ? &node->waits_apart : &node->waits;
}

static inline void published_malthusian_retire(struct published_malthusian *own,
                                               uint32_t thread)
{
    struct published_malthusian_node *node = &own->nodes[thread - 1];
    uint32_t latest = load_relaxed(&own->latest);
    store_relaxed(&node->younger, 0);
    store_relaxed(&node->older, latest);
    if (latest)
        store_relaxed(&own->nodes[latest - 1].younger, thread);
    else
        store_relaxed(&own->eldest, thread);
    store_relaxed(&own->latest, thread);
}

/* Removes the latest or the eldest thread from the passive ones; returns 0 if there is
 * none. */
static inline uint32_t published_malthusian_recall(struct published_malthusian *own,
                                                   bool eldest)
{
    uint32_t thread = load_relaxed(eldest ? &own->eldest : &own->latest);
    if (!thread)
        return 0;
    struct published_malthusian_node *node = &own->nodes[thread - 1];
    uint32_t younger = load_relaxed(&node->younger), older = load_relaxed(&node->older);
    store_relaxed(younger ? &own->nodes[younger - 1].older : &own->latest, older);
    store_relaxed(older ? &own->nodes[older - 1].younger : &own->eldest, younger);
    return thread;
}

static inline bool published_malthusian_serves_eldest(void)
{
    static uint64_t random[PUBLISHED_THREADS];
    return published_random(&random[published_thread()]) %
               PUBLISHED_MALTHUSIAN_ELDEST ==
           0;
}

static inline void published_malthusian_lock(struct lock *lock, int how)
{
    struct published_malthusian *own = published_malthusian_of(lock);
    uint32_t self = published_thread() + 1;
    struct published_malthusian_node *mine = &own->nodes[self - 1];
    struct atomic_u32 *waits = published_malthusian_waits(own, self, how);
    store_relaxed(&mine->next, 0);
    store_relaxed(waits, 1);
    uint32_t before = exchange_acq_rel(&lock->state[0], self);
    if (!before)
        return;
    store_release(&own->nodes[before - 1].next, self);
    published_await(waits, how);
}

/* As in MCS. */
static inline bool published_malthusian_trylock(struct lock *lock, int how)
{
    struct published_malthusian *own = published_malthusian_of(lock);
    uint32_t self = published_thread() + 1;
    store_relaxed(&own->nodes[self - 1].next, 0);
    store_relaxed(published_malthusian_waits(own, self, how), 1);
    return acquire_if(&lock->state[0], 0, self);
}

/* Hands the lock to a passive thread in front of the queue. */
static inline void published_malthusian_return(struct lock *lock, uint32_t self,
                                               uint32_t thread, int how)
{
    struct published_malthusian *own = published_malthusian_of(lock);
    struct published_malthusian_node *mine = &own->nodes[self - 1];
    struct published_malthusian_node *node = &own->nodes[thread - 1];
    uint32_t next = load_acquire(&mine->next);
    store_relaxed(&node->next, next);
    if (!next && !release_if(&lock->state[0], self, thread)) {
        spin_until((next = load_acquire(&mine->next)) != 0);
        store_relaxed(&node->next, next);
    }
    published_wake(published_malthusian_waits(own, thread, how), how);
}

/* Returns the thread behind the successor, 0 if there is none. */
static inline uint32_t published_malthusian_after(struct lock *lock, uint32_t next,
                                                  int how)
{
    struct published_malthusian *own = published_malthusian_of(lock);
    struct atomic_u32 *link = &own->nodes[next - 1].next;
    uint32_t after = 0;
    if (!(how & PUBLISHED_STUDY))
        return load_acquire(link);
    if (load_relaxed(&lock->state[0]) != next)
        spin_until((after = load_acquire(link)) != 0);
    return after;
}

static inline void published_malthusian_unlock(struct lock *lock, int how)
{
    struct published_malthusian *own = published_malthusian_of(lock);
    uint32_t self = published_thread() + 1;
    struct published_malthusian_node *mine = &own->nodes[self - 1];
    uint32_t next = load_acquire(&mine->next), thread = 0;
    if (published_malthusian_serves_eldest())
        thread = published_malthusian_recall(own, true);
    else if (!next)
        thread = published_malthusian_recall(own, false);
    if (thread) {
        published_malthusian_return(lock, self, thread, how);
        return;
    }
    if (!next) {
        if (release_if(&lock->state[0], self, 0))
            return;
        spin_until((next = load_acquire(&mine->next)) != 0);
    }
    uint32_t after = published_malthusian_after(lock, next, how);
    if (after) {
        published_malthusian_retire(own, next);
        next = after;
    }
    published_wake(published_malthusian_waits(own, next, how), how);
}

#endif
