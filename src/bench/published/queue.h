/* SPDX-License-Identifier: MIT */
/*
 * The queue of the lock study's MCS locks: J. Mellor-Crummey, M. Scott, TOCS 1991, as
 * in LiTL. A thread's successor and the cell that it waits for are on two lines, so a
 * release has to fetch the former.
 *
 *   tail  1 + the last thread of the queue, 0 free
 *   node  of each thread: 1 + the successor; waits: 1 until the thread is first
 */
#ifndef HASP_BENCH_PUBLISHED_QUEUE_H
#define HASP_BENCH_PUBLISHED_QUEUE_H

#include "bench/published/waiting.h"

struct published_queued {
    struct atomic_u32 next;
    struct atomic_u32 waits PUBLISHED_NEXT_LINE;
} PUBLISHED_ALONE;

static inline void published_queue_lock(struct atomic_u32 *tail,
                                        struct published_queued *nodes, uint32_t self,
                                        int how)
{
    struct published_queued *mine = &nodes[self - 1];
    store_relaxed(&mine->next, 0);
    store_relaxed(&mine->waits, 1);
    uint32_t before = exchange_acq_rel(tail, self);
    if (!before)
        return;
    store_release(&nodes[before - 1].next, self);
    published_await(&mine->waits, how);
}

static inline bool published_queue_trylock(struct atomic_u32 *tail,
                                           struct published_queued *nodes,
                                           uint32_t self)
{
    store_relaxed(&nodes[self - 1].next, 0);
    store_relaxed(&nodes[self - 1].waits, 1);
    return acquire_if(tail, 0, self);
}

static inline void published_queue_unlock(struct atomic_u32 *tail,
                                          struct published_queued *nodes, uint32_t self,
                                          int how)
{
    struct published_queued *mine = &nodes[self - 1];
    uint32_t next = load_acquire(&mine->next);
    if (!next) {
        if (release_if(tail, self, 0))
            return;
        spin_until((next = load_acquire(&mine->next)) != 0);
    }
    published_wake(&nodes[next - 1].waits, how);
}

static inline struct published_queued *published_queue_of(struct lock *lock)
{
    return published_body(lock, published_threads() * sizeof(struct published_queued));
}

/* The MCS lock itself. */
static inline void published_study_mcs_lock(struct lock *lock, int how)
{
    published_queue_lock(&lock->state[0], published_queue_of(lock),
                         published_thread() + 1, how);
}

static inline bool published_study_mcs_trylock(struct lock *lock, int how)
{
    (void)how;
    return published_queue_trylock(&lock->state[0], published_queue_of(lock),
                                   published_thread() + 1);
}

static inline void published_study_mcs_unlock(struct lock *lock, int how)
{
    published_queue_unlock(&lock->state[0], published_queue_of(lock),
                           published_thread() + 1, how);
}

#endif
