/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical MCS lock of two levels. M. Chabbi, M. Fagan, J. Mellor-Crummey, "High
 * performance locks for multi-level NUMA systems", PPoPP 2015; `adaptive`: M. Chabbi,
 * J. Mellor-Crummey, "Contention-conscious, locality-preserving locks", PPoPP 2016. An
 * adaptive thread that finds the lock free enters at the upper level; so does one whose
 * last passage at the lower level met no other thread, until it finds one there.
 *
 *   tail    of the upper queue: 1 + its last node, 0 empty
 *   local   of each NUMA node: the tail of its queue, and the node by which its first
 *           thread queues at the upper level
 *   node    of each thread and each NUMA node, on a line of its own: 1 + the successor,
 *           and a status, in the lock study's library on the next line: 0 waits;
 *           ENTER_UPPER: first of its queue, without the lock; from HELD: holds the
 *           lock, HELD + the number of handovers in a row
 *   users   of the lock's body: 1 + the holder's NUMA node
 */
#ifndef HASP_BENCH_PUBLISHED_HMCS_H
#define HASP_BENCH_PUBLISHED_HMCS_H

#include "bench/published/body.h"

enum { PUBLISHED_HMCS_ENTER_UPPER = 1, PUBLISHED_HMCS_HELD = 2 };
enum { PUBLISHED_HMCS_THRESHOLD = 64, PUBLISHED_HMCS_STUDY_THRESHOLD = 100 };

struct published_hmcs_node {
    struct atomic_u32 next, status;
    uint8_t upper, lonely; /* of a thread, adaptive form only: entered at the upper
                            * level; met no other thread at the lower level */
    struct atomic_u32 status_apart PUBLISHED_NEXT_LINE;
} PUBLISHED_ALONE;

struct published_hmcs_tail {
    struct atomic_u32 tail;
} PUBLISHED_ALONE;

struct published_hmcs {
    bool study;
    struct atomic_u32 *upper;
    struct published_hmcs_tail *locals;
    struct published_hmcs_node *nodes; /* first those of the NUMA nodes */
};

static inline struct published_hmcs published_hmcs_of(struct lock *lock, int how)
{
    size_t locals = node_count() * sizeof(struct published_hmcs_tail);
    size_t nodes =
        (node_count() + published_threads()) * sizeof(struct published_hmcs_node);
    char *body = published_body(lock, locals + nodes);
    return (struct published_hmcs){how & PUBLISHED_STUDY, &lock->state[0], (void *)body,
                                   (void *)(body + locals)};
}

static inline struct atomic_u32 *
published_hmcs_status(const struct published_hmcs *hmcs, uint32_t number)
{
    struct published_hmcs_node *node = &hmcs->nodes[number - 1];
    return hmcs->study ? &node->status_apart : &node->status;
}

/* Returns the status by which the queue's lock was handed over, 0 if it was free. */
static inline uint32_t published_hmcs_queue(const struct published_hmcs *hmcs,
                                            struct atomic_u32 *tail, uint32_t self)
{
    struct atomic_u32 *mine = published_hmcs_status(hmcs, self);
    store_relaxed(mine, 0);
    store_relaxed(&hmcs->nodes[self - 1].next, 0);
    uint32_t before = exchange_acq_rel(tail, self), status;
    if (!before)
        return 0;
    store_release(&hmcs->nodes[before - 1].next, self);
    spin_until((status = load_acquire(mine)) != 0);
    return status;
}

/* Hands a queue's lock over with that status, or releases it. Returns true if it was
 * handed over. */
static inline bool published_hmcs_leave(const struct published_hmcs *hmcs,
                                        struct atomic_u32 *tail, uint32_t self,
                                        uint32_t status)
{
    struct published_hmcs_node *mine = &hmcs->nodes[self - 1];
    uint32_t next = load_acquire(&mine->next);
    if (!next) {
        if (release_if(tail, self, 0))
            return false;
        spin_until((next = load_acquire(&mine->next)) != 0);
    }
    store_release(published_hmcs_status(hmcs, next), status);
    return true;
}

/* Returns true if an adaptive thread enters at the upper level. */
static inline bool published_hmcs_skips(const struct published_hmcs *hmcs,
                                        struct atomic_u32 *local,
                                        struct published_hmcs_node *mine)
{
    if (load_relaxed(hmcs->upper) == 0)
        return true;
    if (!mine->lonely)
        return false;
    mine->lonely = load_relaxed(local) == 0;
    return mine->lonely;
}

static inline void published_hmcs_lock(struct lock *lock, int how)
{
    const struct published_hmcs hmcs = published_hmcs_of(lock, how);
    const uint32_t node = current_node() + 1;
    const uint32_t self = node_count() + published_thread() + 1;
    struct published_hmcs_node *mine = &hmcs.nodes[self - 1];
    struct atomic_u32 *local = &hmcs.locals[node - 1].tail;
    mine->upper =
        how & PUBLISHED_ADAPTIVE && published_hmcs_skips(&hmcs, local, mine);
    if (mine->upper) {
        published_hmcs_queue(&hmcs, hmcs.upper, self);
        return;
    }
    uint32_t status = published_hmcs_queue(&hmcs, local, self);
    mine->lonely = status == 0;
    if (status < PUBLISHED_HMCS_HELD) {
        store_relaxed(published_hmcs_status(&hmcs, self), PUBLISHED_HMCS_HELD);
        published_hmcs_queue(&hmcs, hmcs.upper, node);
    }
    lock->users = node;
}

/* Takes the upper queue if it is empty, as the lock study's library does for AHMCS. */
static inline bool published_hmcs_try_upper(const struct published_hmcs *hmcs,
                                            uint32_t self)
{
    struct published_hmcs_node *mine = &hmcs->nodes[self - 1];
    if (load_relaxed(hmcs->upper))
        return false;
    store_relaxed(&mine->next, 0);
    store_relaxed(published_hmcs_status(hmcs, self), 0);
    mine->upper = acquire_if(hmcs->upper, 0, self);
    return mine->upper;
}

/* Takes both queues if they are empty, as the lock study's library does. */
static inline bool published_hmcs_trylock(struct lock *lock, int how)
{
    const struct published_hmcs hmcs = published_hmcs_of(lock, how);
    const uint32_t node = current_node() + 1;
    const uint32_t self = node_count() + published_thread() + 1;
    struct published_hmcs_node *mine = &hmcs.nodes[self - 1];
    struct atomic_u32 *local = &hmcs.locals[node - 1].tail;
    if (how & PUBLISHED_ADAPTIVE)
        return published_hmcs_try_upper(&hmcs, self);
    mine->upper = false;
    store_relaxed(&mine->next, 0);
    store_relaxed(published_hmcs_status(&hmcs, self), PUBLISHED_HMCS_HELD);
    if (!acquire_if(local, 0, self))
        return false;
    store_relaxed(&hmcs.nodes[node - 1].next, 0);
    if (acquire_if(hmcs.upper, 0, node)) {
        lock->users = node;
        return true;
    }
    published_hmcs_leave(&hmcs, local, self, PUBLISHED_HMCS_ENTER_UPPER);
    return false;
}

static inline void published_hmcs_unlock(struct lock *lock, int how)
{
    const struct published_hmcs hmcs = published_hmcs_of(lock, how);
    const uint32_t node = lock->users;
    const uint32_t most =
        hmcs.study ? PUBLISHED_HMCS_STUDY_THRESHOLD : PUBLISHED_HMCS_THRESHOLD;
    const uint32_t self = node_count() + published_thread() + 1;
    struct published_hmcs_node *mine = &hmcs.nodes[self - 1];
    if (mine->upper) {
        published_hmcs_leave(&hmcs, hmcs.upper, self, PUBLISHED_HMCS_HELD);
        return;
    }
    uint32_t status = load_relaxed(published_hmcs_status(&hmcs, self));
    uint32_t next = load_acquire(&mine->next);
    if (next && status - PUBLISHED_HMCS_HELD < most) {
        store_release(published_hmcs_status(&hmcs, next), status + 1);
        return;
    }
    published_hmcs_leave(&hmcs, hmcs.upper, node, PUBLISHED_HMCS_HELD);
    if (published_hmcs_leave(&hmcs, &hmcs.locals[node - 1].tail, self,
                             PUBLISHED_HMCS_ENTER_UPPER))
        mine->lonely = false;
}

#endif
