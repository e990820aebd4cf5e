/* SPDX-License-Identifier: MIT */
/*
 * Cohort locks. D. Dice, V. Marathe, N. Shavit, "Lock cohorting", PPoPP 2012, at most
 * 64 handovers in a row; the partitioned ticket lock: D. Dice, SPAA 2011.
 *
 * C-BO-MCS: a global word that is taken by test-and-test-and-set with backoff; a queue
 * for each NUMA node. C-PTL-TKT: a global ticket lock that announces numbers in a slot
 * for each NUMA node; a ticket lock for each node.
 *
 *   word    of C-BO-MCS: 0 free, 1 held
 *   next    of C-PTL-TKT: the number that the next leader draws
 *   local   of each NUMA node: its tail, or its ticket lock and `both`, as in hticket.h
 *   node    of each thread, on a line of its own: 1 + the successor, and a state: 0
 *           waits; GLOBAL: first of its queue, without the global lock; LOCAL: with it
 *   slot    of C-PTL-TKT, one for each NUMA node: the number that holds the lock
 *   mine, users  of the lock's body: the holder's number, and its NUMA node
 */
#ifndef HASP_BENCH_PUBLISHED_COHORT_H
#define HASP_BENCH_PUBLISHED_COHORT_H

#include "bench/published/hticket.h"
#include "bench/published/partitioned.h"
#include "bench/published/tas.h"

enum { PUBLISHED_COHORT_LIMIT = 64 };
enum { PUBLISHED_COHORT_GLOBAL = 1, PUBLISHED_COHORT_LOCAL = 2 };

struct published_cohort_node {
    struct atomic_u32 next, state;
} PUBLISHED_ALONE;

struct published_cohort_queue {
    struct atomic_u32 tail;
    uint32_t handovers; /* in a row */
} PUBLISHED_ALONE;

struct published_cohort {
    struct published_cohort_queue *queues;
    struct published_cohort_node *nodes;
    struct published_ttas_state *pauses;
};

static inline struct published_cohort published_cohort_of(struct lock *lock)
{
    size_t queues = node_count() * sizeof(struct published_cohort_queue);
    size_t nodes = published_threads() * sizeof(struct published_cohort_node);
    size_t pauses = published_threads() * sizeof(struct published_ttas_state);
    char *body = published_body(lock, queues + nodes + pauses);
    return (struct published_cohort){(void *)body, (void *)(body + queues),
                                     (void *)(body + queues + nodes)};
}

static inline void published_c_bo_mcs_lock(struct lock *lock)
{
    const struct published_cohort cohort = published_cohort_of(lock);
    uint32_t self = published_thread() + 1, state = PUBLISHED_COHORT_GLOBAL;
    struct published_cohort_node *mine = &cohort.nodes[self - 1];
    store_relaxed(&mine->next, 0);
    store_relaxed(&mine->state, 0);
    struct published_cohort_queue *queue = &cohort.queues[current_node()];
    uint32_t before = exchange_acq_rel(&queue->tail, self);
    if (before) {
        store_release(&cohort.nodes[before - 1].next, self);
        spin_until((state = load_acquire(&mine->state)) != 0);
    }
    if (state == PUBLISHED_COHORT_LOCAL)
        return;
    while (!published_plain_ttas_trylock(lock)) {
        published_ttas_back_off(&cohort.pauses[self - 1]);
        spin_until(load_relaxed(&lock->word) == 0);
    }
}

/* Leaves the queue; the successor takes the global lock itself. */
static inline void published_c_bo_mcs_leave(const struct published_cohort *cohort,
                                            struct published_cohort_queue *queue,
                                            uint32_t self)
{
    struct published_cohort_node *mine = &cohort->nodes[self - 1];
    uint32_t next = load_acquire(&mine->next);
    if (!next) {
        if (release_if(&queue->tail, self, 0))
            return;
        spin_until((next = load_acquire(&mine->next)) != 0);
    }
    store_release(&cohort->nodes[next - 1].state, PUBLISHED_COHORT_GLOBAL);
}

/* Takes both locks if they are free, as the lock study's library does. */
static inline bool published_c_bo_mcs_trylock(struct lock *lock)
{
    const struct published_cohort cohort = published_cohort_of(lock);
    uint32_t self = published_thread() + 1;
    struct published_cohort_queue *queue = &cohort.queues[current_node()];
    store_relaxed(&cohort.nodes[self - 1].next, 0);
    if (!acquire_if(&queue->tail, 0, self))
        return false;
    if (published_plain_ttas_trylock(lock))
        return true;
    published_c_bo_mcs_leave(&cohort, queue, self);
    return false;
}

static inline void published_c_bo_mcs_unlock(struct lock *lock)
{
    const struct published_cohort cohort = published_cohort_of(lock);
    uint32_t self = published_thread() + 1;
    struct published_cohort_node *mine = &cohort.nodes[self - 1];
    struct published_cohort_queue *queue = &cohort.queues[current_node()];
    uint32_t next = load_acquire(&mine->next);
    if (next && queue->handovers < PUBLISHED_COHORT_LIMIT) {
        queue->handovers++;
        store_release(&cohort.nodes[next - 1].state, PUBLISHED_COHORT_LOCAL);
        return;
    }
    queue->handovers = 0;
    store_release(&lock->word, 0);
    published_c_bo_mcs_leave(&cohort, queue, self);
}

struct published_c_ptl_tkt {
    struct published_local *locals;
    struct published_partition *slots;
    uint32_t *mine;
};

static inline struct published_c_ptl_tkt published_c_ptl_tkt_of(struct lock *lock)
{
    size_t locals = node_count() * sizeof(struct published_local);
    size_t slots = node_count() * sizeof(struct published_partition);
    char *body = published_body(lock, locals + slots + sizeof(uint32_t));
    return (struct published_c_ptl_tkt){(void *)body, (void *)(body + locals),
                                        (void *)(body + locals + slots)};
}

/* Acquires the global lock. In the lock study's library, the holder's number is on the
 * line of the next one. */
static inline void published_c_ptl_tkt_global(struct lock *lock,
                                              const struct published_c_ptl_tkt *own,
                                              int how)
{
    *own->mine = published_partition_acquire(&lock->state[0], own->slots);
    if (how & PUBLISHED_STUDY)
        store_relaxed(&lock->state[1], *own->mine);
}

static inline void published_c_ptl_tkt_lock(struct lock *lock, int how)
{
    const struct published_c_ptl_tkt own = published_c_ptl_tkt_of(lock);
    const uint32_t node = current_node();
    struct published_local *local = &own.locals[node];
    published_ticket_acquire(&local->ticket, PUBLISHED_PLAIN);
    if (!load_relaxed(published_local_both(local, how))) {
        published_c_ptl_tkt_global(lock, &own, how);
    }
    lock->users = node;
}

/* As in the lock study's library. */
static inline bool published_c_ptl_tkt_trylock(struct lock *lock, int how)
{
    const struct published_c_ptl_tkt own = published_c_ptl_tkt_of(lock);
    const uint32_t node = current_node();
    struct published_local *local = &own.locals[node];
    if (!published_ticket_try(&local->ticket))
        return false;
    if (!load_relaxed(published_local_both(local, how))) {
        if (!published_partition_is_free(&lock->state[0], own.slots)) {
            published_ticket_release(&local->ticket);
            return false;
        }
        published_c_ptl_tkt_global(lock, &own, how);
    }
    lock->users = node;
    return true;
}

static inline void published_c_ptl_tkt_unlock(struct lock *lock, int how)
{
    const struct published_c_ptl_tkt own = published_c_ptl_tkt_of(lock);
    struct published_local *local = &own.locals[lock->users];
    if (published_ticket_queued(&local->ticket) &&
        local->handovers < PUBLISHED_COHORT_LIMIT) {
        local->handovers++;
        store_relaxed(published_local_both(local, how), 1);
    } else {
        local->handovers = 0;
        store_relaxed(published_local_both(local, how), 0);
        if (how & PUBLISHED_STUDY)
            (void)load_relaxed(&lock->state[1]);
        published_partition_release(own.slots, *own.mine);
    }
    published_ticket_release(&local->ticket);
}

#endif
