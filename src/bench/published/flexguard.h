/* SPDX-License-Identifier: MIT */
/*
 * FlexGuard. V. Laforet, S. Kashyap, C. Iorgulescu, J. Lawall, J.-P. Lozi, "FlexGuard:
 * fast mutual exclusion independent of subscription", SOSP 2025; where the paper leaves
 * it open, as in its authors' library.
 *
 * Waiters spin, in an MCS queue whose first thread competes for a word, until a program
 * in the kernel's scheduler sees that a thread has lost its CPU that holds any of these
 * locks, or is first in a queue. From then on until all such threads run again, waiters
 * leave their queues and sleep.
 *
 *   word       0 free, 1 held, 2 held with possible sleepers
 *   tail       1 + the last thread of the queue, 0 free; on the same line
 *   node       of each thread, for all locks, on a pair of lines of its own: 1 + the
 *              successor, and whether it waits
 *   preempted  one for all locks: the number of threads without a CPU that others may
 *              wait for
 */
#ifndef HASP_BENCH_PUBLISHED_FLEXGUARD_H
#define HASP_BENCH_PUBLISHED_FLEXGUARD_H

#include "bench/published/body.h"
#include "simulator/cells.h"
#include "simulator/monitor.h"

/* What others may wait for: nothing; the thread if it is first in the queue; it. */
enum flexguard_phase { FLEXGUARD_APART, FLEXGUARD_QUEUED, FLEXGUARD_CRITICAL };

struct published_flexguard_node {
    struct atomic_u32 next, waits;
    /* The monitor's, which reads and writes them without simulated accesses. */
    uint8_t phase;
    bool counted;
} PUBLISHED_ALONE;

struct published_flexguard {
    struct atomic_u32 preempted PUBLISHED_ALONE;
    struct published_flexguard_node nodes[];
};

static struct lock published_flexguard_common;

static inline struct published_flexguard *published_flexguard_of_all(void)
{
    size_t nodes = published_threads() * sizeof(struct published_flexguard_node);
    return published_body(&published_flexguard_common,
                          sizeof(struct published_flexguard) + nodes);
}

static inline bool
published_flexguard_is_critical(const struct published_flexguard_node *node)
{
    return node->phase == FLEXGUARD_CRITICAL ||
           (node->phase == FLEXGUARD_QUEUED &&
            !cell_value(&node->waits, sizeof node->waits));
}

static inline void published_flexguard_switches(const struct thread *thread, bool runs,
                                                uint64_t now)
{
    struct published_flexguard *all = published_flexguard_of_all();
    struct published_flexguard_node *node = &all->nodes[thread->index];
    if (runs ? !node->counted : !published_flexguard_is_critical(node))
        return;
    node->counted = !runs;
    uint32_t others = (uint32_t)cell_value(&all->preempted, sizeof all->preempted);
    monitor_writes(thread, &all->preempted, runs ? others - 1 : others + 1, now);
}

static inline struct published_flexguard_node *
published_flexguard_mine(struct published_flexguard *all)
{
    monitor_switches(published_flexguard_switches);
    return &all->nodes[published_thread()];
}

static inline bool published_flexguard_blocks(struct published_flexguard *all)
{
    return load_relaxed(&all->preempted) != 0;
}

static inline bool published_flexguard_try(struct lock *lock)
{
    return load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, 1);
}

/* Waits until the caller is first in the queue, or a thread has been preempted. */
static inline void published_flexguard_queue(struct lock *lock,
                                             struct published_flexguard *all)
{
    struct published_flexguard_node *mine = published_flexguard_mine(all);
    uint32_t self = published_thread() + 1;
    store_relaxed(&mine->next, 0);
    store_relaxed(&mine->waits, 1);
    mine->phase = FLEXGUARD_QUEUED;
    uint32_t before = exchange_acq_rel(&lock->state[0], self);
    if (before) {
        store_release(&all->nodes[before - 1].next, self);
        spin_until(!load_acquire(&mine->waits) || published_flexguard_blocks(all));
    }
}

/* The successor becomes first, even if the caller was not. */
static inline void published_flexguard_leave(struct lock *lock,
                                             struct published_flexguard *all)
{
    struct published_flexguard_node *mine = published_flexguard_mine(all);
    uint32_t next = load_acquire(&mine->next);
    if (!next) {
        if (release_if(&lock->state[0], published_thread() + 1, 0))
            return;
        spin_until((next = load_acquire(&mine->next)) != 0);
    }
    store_release(&all->nodes[next - 1].waits, 0);
}

/* Returns whether the caller has acquired the lock before a thread was preempted. */
static inline bool published_flexguard_spin(struct lock *lock,
                                            struct published_flexguard *all)
{
    while (!published_flexguard_try(lock)) {
        if (published_flexguard_blocks(all))
            return false;
        relax();
    }
    return true;
}

/* Sleeps. Returns whether the caller has acquired the lock before all threads ran. */
static inline bool published_flexguard_sleep(struct lock *lock,
                                             struct published_flexguard *all)
{
    do {
        if (load_relaxed(&lock->word) != 2 && !exchange_acquire(&lock->word, 2))
            return true;
        park(&lock->word, 2, NULL);
        if (!exchange_acquire(&lock->word, 2))
            return true;
    } while (published_flexguard_blocks(all));
    return false;
}

static inline bool published_flexguard_trylock(struct lock *lock)
{
    struct published_flexguard_node *mine =
        published_flexguard_mine(published_flexguard_of_all());
    if (!published_flexguard_try(lock))
        return false;
    mine->phase = FLEXGUARD_CRITICAL;
    return true;
}

static inline void published_flexguard_lock(struct lock *lock)
{
    if (published_flexguard_trylock(lock))
        return;
    struct published_flexguard *all = published_flexguard_of_all();
    struct published_flexguard_node *mine = published_flexguard_mine(all);
    bool acquired;
    do {
        bool queues = !published_flexguard_blocks(all);
        if (queues)
            published_flexguard_queue(lock, all);
        mine->phase = FLEXGUARD_CRITICAL;
        acquired = published_flexguard_spin(lock, all);
        if (queues)
            published_flexguard_leave(lock, all);
    } while (!acquired && !published_flexguard_sleep(lock, all));
}

static inline void published_flexguard_unlock(struct lock *lock)
{
    struct published_flexguard_node *mine =
        published_flexguard_mine(published_flexguard_of_all());
    if (exchange_release(&lock->word, 0) != 1)
        unpark(&lock->word, 1);
    mine->phase = FLEXGUARD_APART;
}

#endif
