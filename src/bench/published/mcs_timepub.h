/* SPDX-License-Identifier: MIT */
/*
 * Time-published MCS lock, MCS-TP. B. He, W. Scherer, M. Scott, "Preemption adaptivity
 * in time-published queue-based spin locks", HiPC 2005, with the time limits that RCL's
 * authors chose and the lock study kept. A waiter publishes the time, and a release
 * skips waiters whose time is old. One that has waited for long marks its node, yields
 * its CPU if the holder has had the lock for long, and waits again in the same place
 * unless a release has skipped it meanwhile.
 *
 *   tail       1 + the last thread of the queue, 0 free
 *   since      on the next line: when the holder got the lock
 *   node       of each thread: 1 + the successor; the time that it published; on the
 *              next line its status
 *
 * The authors' waiters store the time in each spin iteration. Here they do so when it
 * has changed: it is in microseconds.
 */
#ifndef HASP_BENCH_PUBLISHED_MCS_TIMEPUB_H
#define HASP_BENCH_PUBLISHED_MCS_TIMEPUB_H

#include "bench/published/body.h"

/* In microseconds. */
enum { MCS_TP_SILENCE = 10, MCS_TP_PATIENCE = 50, MCS_TP_SECTION = 10000 };

/* Spin iterations between two looks at the clock. */
enum { MCS_TP_LOOK = 100 };

enum published_mcs_tp_status {
    MCS_TP_IDLE,
    MCS_TP_WAITS,
    MCS_TP_HAS, /* the lock */
    MCS_TP_IMPATIENT,
    MCS_TP_SKIPPED,
};

struct published_mcs_tp_node {
    struct atomic_u32 next, time;
    struct atomic_u32 status PUBLISHED_NEXT_LINE;
} PUBLISHED_ALONE;

struct published_mcs_tp {
    struct atomic_u32 since PUBLISHED_ALONE;
    struct published_mcs_tp_node nodes[];
};

static inline struct published_mcs_tp *published_mcs_tp_of(struct lock *lock)
{
    return published_body(lock, sizeof(struct published_mcs_tp) +
                                    published_threads() *
                                        sizeof(struct published_mcs_tp_node));
}

static inline uint32_t published_mcs_tp_now(void)
{
    return (uint32_t)(ticks_to_ns(ticks()) / 1000);
}

static inline void published_mcs_tp_has(struct published_mcs_tp *own)
{
    store_relaxed(&own->since, published_mcs_tp_now());
}

/* Joins the queue. Returns true if it was empty. */
static inline bool published_mcs_tp_join(struct lock *lock, uint32_t self)
{
    struct published_mcs_tp *own = published_mcs_tp_of(lock);
    struct published_mcs_tp_node *mine = &own->nodes[self - 1];
    store_relaxed(&mine->time, published_mcs_tp_now());
    store_relaxed(&mine->status, MCS_TP_WAITS);
    store_relaxed(&mine->next, 0);
    uint32_t before = exchange_acq_rel(&lock->state[0], self);
    if (before)
        store_release(&own->nodes[before - 1].next, self);
    return !before;
}

/* Waits until the node's status changes or patience ends; returns the status. */
static inline uint32_t published_mcs_tp_watch(struct published_mcs_tp_node *mine)
{
    const uint64_t start = ticks_aside();
    uint32_t status, published = 0;
    while ((status = load_acquire(&mine->status)) == MCS_TP_WAITS) {
        const uint64_t at = ticks_aside();
        const uint32_t now = (uint32_t)(ticks_to_ns(at) / 1000);
        if (now != published)
            store_relaxed(&mine->time, published = now);
        if (ticks_to_ns(at - start) > 1000 * MCS_TP_PATIENCE)
            break;
        (void)relax_at_most(MCS_TP_LOOK);
    }
    return status;
}

static inline void published_mcs_tp_lock(struct lock *lock)
{
    struct published_mcs_tp *own = published_mcs_tp_of(lock);
    const uint32_t self = published_thread() + 1;
    struct published_mcs_tp_node *mine = &own->nodes[self - 1];
    bool has = published_mcs_tp_join(lock, self);
    while (!has) {
        uint32_t status = published_mcs_tp_watch(mine);
        has = status == MCS_TP_HAS;
        if (status == MCS_TP_WAITS &&
            !acquire_if(&mine->status, MCS_TP_WAITS, MCS_TP_IMPATIENT))
            continue; /* it has changed */
        if (has)
            break;
        if (published_mcs_tp_now() - load_relaxed(&own->since) > MCS_TP_SECTION)
            yield();
        if (status == MCS_TP_SKIPPED ||
            !acquire_if(&mine->status, MCS_TP_IMPATIENT, MCS_TP_WAITS))
            has = published_mcs_tp_join(lock, self);
    }
    published_mcs_tp_has(own);
}

/* One attempt to find the queue empty, as in the lock study's library. */
static inline bool published_mcs_tp_trylock(struct lock *lock)
{
    struct published_mcs_tp *own = published_mcs_tp_of(lock);
    const uint32_t self = published_thread() + 1;
    store_relaxed(&own->nodes[self - 1].status, MCS_TP_WAITS);
    store_relaxed(&own->nodes[self - 1].next, 0);
    if (!acquire_if(&lock->state[0], 0, self))
        return false;
    published_mcs_tp_has(own);
    return true;
}

/* Returns true if the thread waits, has published the time lately, and has the lock. */
static inline bool published_mcs_tp_grant(struct published_mcs_tp_node *node)
{
    if (load_acquire(&node->status) != MCS_TP_WAITS)
        return false;
    uint32_t time = load_relaxed(&node->time);
    return (int32_t)(published_mcs_tp_now() - time) <= MCS_TP_SILENCE &&
           release_if(&node->status, MCS_TP_WAITS, MCS_TP_HAS);
}

static inline void published_mcs_tp_unlock(struct lock *lock)
{
    struct published_mcs_tp *own = published_mcs_tp_of(lock);
    uint32_t at = published_thread() + 1;
    while (true) {
        struct published_mcs_tp_node *node = &own->nodes[at - 1];
        uint32_t next = load_acquire(&node->next);
        if (!next) {
            if (release_if(&lock->state[0], at, 0)) {
                store_release(&node->status, MCS_TP_SKIPPED);
                return;
            }
            spin_until((next = load_acquire(&node->next)) != 0);
        }
        store_release(&node->status, MCS_TP_SKIPPED);
        if (published_mcs_tp_grant(&own->nodes[next - 1]))
            return;
        at = next;
    }
}

#endif
