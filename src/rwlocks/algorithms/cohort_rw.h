/* SPDX-License-Identifier: MIT */
/*
 * Reader-writer locks for NUMA machines: C-RW-NP, C-RW-RP and C-RW-WP. I. Calciu, D.
 * Dice, Y. Lev, V. Luchangco, V. Marathe, N. Shavit, "NUMA-aware reader-writer locks",
 * PPoPP 2013.
 *
 * Idea: writers exclude each other by a cohort lock (c-ptl-tkt). Readers count
 * themselves on a line of their NUMA node, and so do not disturb those of other nodes.
 * The preference decides who looks at whom first.
 *
 *   side     id of a directory: a block for the cohort lock and the next two words, and
 *            a block with a counter for each node
 *   active   in a line of its own. Readers preferred: nonzero while a writer enters or
 *            holds. Writers preferred: the number of writers that wait or hold
 *   barrier  with writers preferred: number of readers that have waited too long
 *
 * I1. A reader counts itself, executes a fence, and loads `active` (acquire: pairs with
 *     the release of the last writer); a writer changes `active`, executes a fence, and
 *     adds the counters up. One of them sees the other; then, with readers preferred,
 *     the writer gives way, otherwise the reader takes itself back. C-RW-NP: readers
 *     count themselves while they hold the cohort lock, and a writer has it until its
 *     release.
 * I2. A reader may leave on another node than it came from: only the sum counts. While
 *     a writer adds, no reader comes to stay, so the sum is at least the number of
 *     readers inside.
 * I3. A release touches side blocks only, which outlive the lock (inner_mutex.h).
 *
 * Overtaking: with readers preferred, writers starve while readers overlap. With
 * writers preferred, a reader that has yielded CRW_PATIENCE times stops new writers.
 * Timed lock: a writer that gives up after it got the cohort lock releases it.
 * The kind that prefers writers: such a lock is C-RW-WP.
 * Fork: in the child, only what the forking thread holds remains.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_COHORT_RW_H
#define HASP_RWLOCKS_ALGORITHMS_COHORT_RW_H

#include "locks/waiting/policies.h"
#include "rwlocks/algorithms/inner_mutex.h"
#include "rwlocks/read_holds.h"

enum crw_preference { CRW_NEUTRAL, CRW_READERS, CRW_WRITERS };

enum { CRW_INNER, CRW_COUNTERS }; /* in the directory */
enum { CRW_ACTIVE = 16, CRW_BARRIER }; /* words of the cohort lock's block */
enum { CRW_PATIENCE = 1000, CRW_NODES = SIDE_BLOCKS_MAX - CRW_COUNTERS };

extern struct atomic_u64 crw_operations __attribute__((visibility("hidden")));
const struct lock_operations *crw_find_operations(void)
    __attribute__((visibility("hidden")));

static inline const struct lock_operations *crw_inner_operations(void)
{
    uint64_t found = load_relaxed(&crw_operations);
    return likely(found != 0) ? (const struct lock_operations *)(uintptr_t)found
                              : crw_find_operations();
}

static inline struct side_block *crw_block(struct rwlock *lock)
{
    return side_memory_get(&lock->side, CRW_INNER);
}

static inline struct atomic_u32 *crw_counter(struct rwlock *lock)
{
    uint32_t node = current_node() % CRW_NODES;
    return &side_memory_get(&lock->side, CRW_COUNTERS + node)->words[0];
}

/* Whether a reader has to wait for a writer (I1). */
static inline bool crw_closed(struct side_block *block)
{
    return load_acquire(&block->words[CRW_ACTIVE]) != 0;
}

/* Returns whether no reader is inside (I2). */
static inline bool crw_no_readers(struct rwlock *lock)
{
    uint32_t sum = 0, nodes = node_count() < CRW_NODES ? node_count() : CRW_NODES;
    for (uint32_t node = 0; node < nodes; node++) {
        struct side_block *block = side_memory_find(&lock->side, CRW_COUNTERS + node);
        sum += block ? load_acquire(&block->words[0]) : 0;
    }
    return sum == 0;
}

static inline enum crw_preference crw_of(const struct rwlock *lock,
                                         enum crw_preference preference)
{
    return rwlock_prefers_writers(lock) ? CRW_WRITERS : preference;
}

static inline enum rwlock_use crw_use(const struct rwlock *lock,
                                      enum crw_preference preference)
{
    (void)preference;
    if (load_relaxed(&lock->writer))
        return RWLOCK_WRITTEN;
    bool used = load_relaxed(&lock->side) != 0;
    return used && !crw_no_readers((struct rwlock *)(uintptr_t)lock) ? RWLOCK_READ
                                                                     : RWLOCK_FREE;
}

static inline bool crw_read_trylock(struct rwlock *lock, enum crw_preference wanted)
{
    enum crw_preference preference = crw_of(lock, wanted);
    struct side_block *block = crw_block(lock);
    struct atomic_u32 *counter = crw_counter(lock);
    if (preference == CRW_NEUTRAL) {
        if (!crw_inner_operations()->trylock(inner_mutex_in(block)))
            return false;
        fetch_add_relaxed(counter, 1);
        crw_inner_operations()->unlock(inner_mutex_in(block));
        return true;
    }
    if (crw_closed(block))
        return false;
    fetch_add_acq_rel(counter, 1);
    fence_seq_cst();
    if (likely(!crw_closed(block)))
        return true;
    fetch_add_release(counter, UINT32_MAX);
    return false;
}

/* The caller has the cohort lock, and with writers preferred is counted: waits until
 * the readers are gone. Returns false if the deadline has passed. `tries`: does not
 * wait. With readers preferred, it gives way to readers that came meanwhile: they wait
 * until it does (crw_read_preferred). */
static inline bool crw_expel(struct rwlock *lock, enum crw_preference preference,
                             bool tries, const struct deadline *deadline)
{
    struct atomic_u32 *active = &crw_block(lock)->words[CRW_ACTIVE];
    struct spinner spinner = {0, 0};
    for (;;) {
        if (preference == CRW_READERS)
            store_relaxed(active, 1);
        fence_seq_cst();
        if (crw_no_readers(lock))
            return true;
        if (preference == CRW_READERS)
            store_release(active, 0);
        if (tries)
            return false;
        do
            if (!spinner_spin(&spinner, deadline))
                return false;
        while (!crw_no_readers(lock));
    }
}

/* With writers preferred, a writer is counted from before it waits for the cohort lock
 * until it has released the lock, or given up. */
static inline void crw_count_writer(struct side_block *block,
                                    enum crw_preference preference, uint32_t change)
{
    if (preference == CRW_WRITERS)
        fetch_add_release(&block->words[CRW_ACTIVE], change);
}

static inline bool crw_write_within(struct rwlock *lock, enum crw_preference wanted,
                                    bool tries, const struct deadline *deadline)
{
    enum crw_preference preference = crw_of(lock, wanted);
    struct side_block *block = crw_block(lock);
    if (crw_expel(lock, preference, tries, deadline))
        return true;
    crw_count_writer(block, preference, UINT32_MAX);
    crw_inner_operations()->unlock(inner_mutex_in(block));
    return false;
}

static inline bool crw_write_trylock(struct rwlock *lock, enum crw_preference wanted)
{
    struct side_block *block = crw_block(lock);
    if (!crw_inner_operations()->trylock(inner_mutex_in(block)))
        return false;
    crw_count_writer(block, crw_of(lock, wanted), 1);
    return crw_write_within(lock, wanted, true, NULL);
}

static inline bool crw_read_fast(struct rwlock *lock, enum crw_preference wanted)
{
    return !unlikely(is_forked_child()) && crw_read_trylock(lock, wanted);
}

static inline bool crw_write_fast(struct rwlock *lock, enum crw_preference wanted)
{
    return !unlikely(is_forked_child()) && crw_write_trylock(lock, wanted);
}

/* The reader stays counted while it waits, so that no writer enters before it: if both
 * took back what they published, they could do so for ever. */
static inline bool crw_read_preferred(struct rwlock *lock, struct side_block *block,
                                      const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    struct atomic_u32 *counter = crw_counter(lock);
    fetch_add_acq_rel(counter, 1);
    fence_seq_cst();
    while (crw_closed(block))
        if (!spinner_spin(&spinner, deadline)) {
            fetch_add_release(counter, UINT32_MAX);
            return false;
        }
    return true;
}

static inline bool crw_read_wait(struct rwlock *lock, enum crw_preference wanted,
                                 const struct deadline *deadline)
{
    enum crw_preference preference = crw_of(lock, wanted);
    struct side_block *block = crw_block(lock);
    if (preference == CRW_NEUTRAL) {
        if (!inner_mutex_lock(inner_mutex_in(block), crw_inner_operations(), deadline))
            return false;
        fetch_add_relaxed(crw_counter(lock), 1);
        crw_inner_operations()->unlock(inner_mutex_in(block));
        return true;
    }
    if (preference == CRW_READERS)
        return crw_read_preferred(lock, block, deadline);
    struct spinner spinner = {0, 0};
    uint32_t patience = rwlock_prefers_writers(lock) ? UINT32_MAX : CRW_PATIENCE;
    bool came, in_time = true, barred = false;
    while (!(came = crw_read_trylock(lock, wanted)) && in_time) {
        if (!barred && patience-- == 0) {
            barred = true;
            fetch_add_relaxed(&block->words[CRW_BARRIER], 1);
        }
        in_time = spinner_spin(&spinner, deadline);
    }
    if (barred)
        fetch_add_relaxed(&block->words[CRW_BARRIER], UINT32_MAX);
    return came;
}

static inline bool crw_write_wait(struct rwlock *lock, enum crw_preference wanted,
                                  const struct deadline *deadline)
{
    struct side_block *block = crw_block(lock);
    struct spinner spinner = {0, 0};
    while (load_relaxed(&block->words[CRW_BARRIER]))
        if (!spinner_spin(&spinner, deadline))
            return false;
    crw_count_writer(block, crw_of(lock, wanted), 1);
    if (inner_mutex_lock(inner_mutex_in(block), crw_inner_operations(), deadline))
        return crw_write_within(lock, wanted, false, deadline);
    crw_count_writer(block, crw_of(lock, wanted), UINT32_MAX);
    return false;
}

static inline void crw_read_unlock(struct rwlock *lock, enum crw_preference wanted)
{
    (void)wanted;
    fetch_add_release(crw_counter(lock), UINT32_MAX);
}

static inline void crw_write_unlock(struct rwlock *lock, enum crw_preference wanted)
{
    struct side_block *block = crw_block(lock);
    enum crw_preference preference = crw_of(lock, wanted);
    if (preference == CRW_READERS)
        store_release(&block->words[CRW_ACTIVE], 0);
    crw_count_writer(block, preference, UINT32_MAX);
    crw_inner_operations()->unlock(inner_mutex_in(block));
}

void crw_forget(struct rwlock *lock) __attribute__((visibility("hidden")));
void crw_destroy(struct rwlock *lock, enum crw_preference preference)
    __attribute__((visibility("hidden")));

#endif
