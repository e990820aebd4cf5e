/* SPDX-License-Identifier: MIT */
/*
 * FlexGuard. V. Laforet, S. Kashyap, C. Iorgulescu, J. Lawall, J.-P. Lozi, "FlexGuard:
 * fast mutual exclusion independent of subscription", SOSP 2025. Details that the paper
 * leaves open are those of its authors' library.
 *
 * Waiters spin in an MCS queue, whose first thread competes for a word. An eBPF program
 * at sched_switch counts the preempted threads that hold a lock or are first in a
 * queue. While there are any, waiters leave their queues and sleep on the word.
 *
 *   word       0 free, 1 held, 2 held with possible sleepers
 *   tail       1 + the last thread of the queue, 0 free; on the same line
 *   node       of each thread, for all locks: as in mcs.h
 *   preempted  the number of those threads, for all locks
 */
#ifndef HASP_BENCH_PUBLISHED_FLEXGUARD_H
#define HASP_BENCH_PUBLISHED_FLEXGUARD_H

#include "bench/published/mcs.h"
#include "simulator/cells.h"
#include "simulator/monitor.h"

/* APART: no other thread waits for this one. QUEUED: others do once it is first in the
 * queue. CRITICAL: they do. */
enum flexguard_phase { FLEXGUARD_APART, FLEXGUARD_QUEUED, FLEXGUARD_CRITICAL };

/* What the eBPF program knows of a thread; accesses to it are not simulated. */
struct published_flexguard_thread {
    uint8_t phase;
    bool counted;
};

struct published_flexguard {
    struct atomic_u32 preempted PUBLISHED_ALONE;
    struct published_mcs_node nodes[];
};

static struct lock published_flexguard_common;
static struct published_flexguard_thread published_flexguard_threads[PUBLISHED_THREADS];

static inline struct published_flexguard *published_flexguard_of_all(void)
{
    size_t nodes = published_threads() * sizeof(struct published_mcs_node);
    return published_body(&published_flexguard_common,
                          sizeof(struct published_flexguard) + nodes);
}

static inline void published_flexguard_enter(enum flexguard_phase phase)
{
    published_flexguard_threads[published_thread()].phase = (uint8_t)phase;
}

static inline void published_flexguard_switches(const struct thread *thread, bool runs,
                                                uint64_t now)
{
    struct published_flexguard *all = published_flexguard_of_all();
    const unsigned index = thread->index;
    struct published_flexguard_thread *own = &published_flexguard_threads[index];
    const struct atomic_u32 *waits = &all->nodes[index].waits;
    bool critical =
        own->phase == FLEXGUARD_CRITICAL ||
        (own->phase == FLEXGUARD_QUEUED && !cell_value(waits, sizeof *waits));
    if (runs ? !own->counted : !critical)
        return;
    own->counted = !runs;
    uint32_t others = (uint32_t)cell_value(&all->preempted, sizeof all->preempted);
    monitor_writes(thread, &all->preempted, runs ? others - 1 : others + 1, now);
}

static inline bool published_flexguard_blocks(struct published_flexguard *all)
{
    return load_relaxed(&all->preempted) != 0;
}

static inline bool published_flexguard_try(struct lock *lock)
{
    return load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, 1);
}

/* Waits until the caller is first in the queue, or a critical thread is preempted. */
static inline void published_flexguard_queue(struct lock *lock,
                                             struct published_flexguard *all)
{
    struct published_mcs_node *mine = &all->nodes[published_thread()];
    uint32_t self = published_thread() + 1;
    store_relaxed(&mine->next, 0);
    store_relaxed(&mine->waits, 1);
    published_flexguard_enter(FLEXGUARD_QUEUED);
    uint32_t before = exchange_acq_rel(&lock->state[0], self);
    if (before) {
        store_release(&all->nodes[before - 1].next, self);
        spin_until(!load_acquire(&mine->waits) || published_flexguard_blocks(all));
    }
}

/* Returns true once the caller has acquired the lock, false if a critical thread is
 * preempted first. */
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

/* Sleeps. Returns true once the caller has acquired the lock, false if no critical
 * thread is preempted any more. */
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
    monitor_switches(published_flexguard_switches);
    if (!published_flexguard_try(lock))
        return false;
    published_flexguard_enter(FLEXGUARD_CRITICAL);
    return true;
}

/* A thread that leaves the queue lets its successor be first, even if it was not. */
static inline void published_flexguard_lock(struct lock *lock)
{
    if (published_flexguard_trylock(lock))
        return;
    struct published_flexguard *all = published_flexguard_of_all();
    bool acquired;
    do {
        bool queues = !published_flexguard_blocks(all);
        if (queues)
            published_flexguard_queue(lock, all);
        published_flexguard_enter(FLEXGUARD_CRITICAL);
        acquired = published_flexguard_spin(lock, all);
        if (queues)
            published_mcs_pass(&lock->state[0], all->nodes);
    } while (!acquired && !published_flexguard_sleep(lock, all));
}

static inline void published_flexguard_unlock(struct lock *lock)
{
    if (exchange_release(&lock->word, 0) != 1)
        unpark(&lock->word, 1);
    published_flexguard_enter(FLEXGUARD_APART);
}

#endif
