/* SPDX-License-Identifier: MIT */
/*
 * Reader-writer locks for NUMA machines: C-RW-NP, C-RW-RP and C-RW-WP. I. Calciu, D.
 * Dice, Y. Lev, V. Luchangco, V. Marathe, N. Shavit, "NUMA-aware reader-writer locks",
 * PPoPP 2013.
 *
 * Idea: writers exclude each other by a cohort lock (c-ptl-tkt). Readers count
 * themselves on a line of their NUMA node, which also has a gate (reader_gates.h), and
 * so do not disturb those of other nodes. Only the holder of the cohort lock closes and
 * opens the gates; the preference decides when. (In the published locks, all readers
 * look at one word of the writers.)
 *
 *   state[0]  the lock until its first contention (thin_form.h)
 *   side      from then on, id of a directory: a block for the cohort lock and the
 *             following words, and the gates
 *   count     with writers preferred: number of writers that wait or hold; those that
 *             sleep are counted apart (admission.h)
 *   queued    otherwise: number of threads that wait for the cohort lock, likewise
 *   in_batch  0, or the number of writers that have entered since the last reader left
 *   shut      whether the gates are closed
 *
 * I1. A writer enters after it has closed the gates and found that no reader is inside.
 *     With readers preferred, it opens the gates again if there are any, and waits
 *     until there are none; readers stay counted while they wait for that. C-RW-NP:
 *     readers count themselves while they hold the cohort lock, and a writer has it
 *     until its release; the gates stay open.
 * I2. A writer that finds in_batch not 0 enters at once: the gates are closed and no
 *     reader is inside.
 * I3. The gates are open, or will be opened, while `count` is 0: a release opens them
 *     unless a writer waits for the cohort lock, and a writer that gives up and makes
 *     `count` 0 takes the cohort lock to do it, unless another writer has come, which
 *     does it then.
 * I4. A release touches side blocks and memory of the process only, which outlive the
 *     lock (inner_mutex.h); a reader's, after it has left, only memory of the process.
 *
 * Load control: threads beyond the number of CPUs sleep before they queue at the cohort
 * lock, where waiting threads spin. A release that may open the gates does not regard
 * sleeping writers as waiting unless the lock's kind prefers writers.
 * Overtaking: with readers preferred, writers starve while readers overlap. With
 * writers preferred, the gates open when no writer waits, and after CRW_BATCH writers
 * in a row. A reader that waits keeps them open, once they are, until it has entered:
 * at most two batches of writers overtake it, the second one if the gates are closed
 * again just before the reader is counted. Readers overtake a waiting writer only while
 * the gates are open between two batches.
 * Timed lock: a writer that gives up after it got the cohort lock releases it.
 * The kind that prefers writers: such a lock is C-RW-WP, without a limit.
 * Fork: in the child, only what the forking thread holds remains.
 * Thin form: those inside by it count as readers of one more gate. A reader that finds
 * a writer there waits until it has left; it is counted before if readers are
 * preferred, and with writers preferred, it keeps the gates open meanwhile.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_COHORT_RW_H
#define HASP_RWLOCKS_ALGORITHMS_COHORT_RW_H

#include "rwlocks/algorithms/admission.h"
#include "rwlocks/algorithms/inner_mutex.h"
#include "rwlocks/algorithms/reader_gates.h"
#include "rwlocks/read_holds.h"

enum crw_preference { CRW_NEUTRAL, CRW_READERS, CRW_WRITERS };

enum { CRW_INNER }; /* in the directory, before the gates */

/* Words of the cohort lock's block. */
enum {
    CRW_COUNT = 11,
    CRW_QUEUED,
    CRW_IN_BATCH,
    CRW_SHUT,
};
enum { CRW_BATCH = HANDOVER_LIMIT };

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
    return readers_are_gone((struct rwlock *)(uintptr_t)lock) ? RWLOCK_FREE
                                                              : RWLOCK_READ;
}

/* Writers are not preferred: waits for the cohort lock. Returns false if the deadline
 * has passed. */
static inline bool crw_queue(struct side_block *block, const struct deadline *deadline)
{
    struct atomic_u32 *queued = &block->words[CRW_QUEUED];
    if (!admission_get(queued, admission_places(1), deadline))
        return false;
    bool came =
        inner_mutex_lock(inner_mutex_in(block), crw_inner_operations(), deadline);
    admission_wake(queued, admission_leave(queued));
    return came;
}

/* Reading. */

static inline bool crw_read_trylock(struct rwlock *lock, enum crw_preference wanted)
{
    enum thin_result result = thin_read(lock);
    if (result != THIN_USELESS)
        return result == THIN_ENTERED;
    struct side_block *gate = reader_gate(lock);
    if (crw_of(lock, wanted) != CRW_NEUTRAL)
        return reader_enters(lock, gate);
    struct lock *inner = inner_mutex_in(crw_block(lock));
    if (!crw_inner_operations()->trylock(inner))
        return false;
    fetch_add_relaxed(&gate->words[0], GATE_READER);
    crw_inner_operations()->unlock(inner);
    return true;
}

static inline bool crw_read_fast(struct rwlock *lock, enum crw_preference wanted)
{
    return !unlikely(is_forked_child()) && crw_read_trylock(lock, wanted);
}

/* The reader stays counted while it waits, so that no writer enters before it: if both
 * took back what they published, they could do so for ever. */
static inline bool crw_read_preferred(struct rwlock *lock,
                                      const struct deadline *deadline)
{
    uint32_t spins = spin_limit();
    struct side_block *gate = reader_gate(lock);
    fetch_add_relaxed(&gate->words[0], GATE_READER);
    bool in_time = thin_await_writer(lock, deadline);
    while (in_time && reader_gate_is_closed(gate))
        in_time = reader_waits(gate, &spins, deadline);
    if (!in_time)
        reader_leaves(lock, gate);
    return in_time;
}

/* A reader that waits keeps the gates open, once they are, until it has entered. */
static inline bool crw_read_gated(struct rwlock *lock, const struct deadline *deadline)
{
    struct side_block *gate = reader_gate(lock);
    const bool bars = !rwlock_prefers_writers(lock);
    uint32_t spins = spin_limit();
    if (bars)
        fetch_add_relaxed(&gate->words[READERS_BARRED], 1);
    bool came = false, in_time = thin_await_writer(lock, deadline);
    while (in_time &&
           !(came = !reader_gate_is_closed(gate) && reader_enters(lock, gate)))
        in_time = reader_waits(gate, &spins, deadline);
    if (bars)
        fetch_add_relaxed(&gate->words[READERS_BARRED], UINT32_MAX);
    return came;
}

static inline bool crw_read_wait(struct rwlock *lock, enum crw_preference wanted,
                                 const struct deadline *deadline)
{
    if (thin_inflate_unless_entered(lock, thin_read(lock)))
        return true;
    enum crw_preference preference = crw_of(lock, wanted);
    struct side_block *block = crw_block(lock);
    if (preference == CRW_READERS)
        return crw_read_preferred(lock, deadline);
    if (preference != CRW_NEUTRAL)
        return crw_read_gated(lock, deadline);
    if (!crw_queue(block, deadline))
        return false;
    bool came = thin_await_writer(lock, deadline);
    if (came)
        fetch_add_relaxed(&reader_gate(lock)->words[0], GATE_READER);
    crw_inner_operations()->unlock(inner_mutex_in(block));
    return came;
}

static inline void crw_read_unlock(struct rwlock *lock, enum crw_preference wanted)
{
    (void)wanted;
    if (!thin_read_unlock(lock))
        reader_leaves(lock, reader_gate(lock));
}

/* Writing. */

/* The gates are open: waits until no reader keeps them so, and closes them. Returns
 * false if the deadline has passed; with `tries`, at once if a reader keeps them
 * open. */
static inline bool crw_shut(struct rwlock *lock, struct side_block *block, bool tries,
                            const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    while (readers_bar_the_gates(lock))
        if (tries || !thin_await_writer(lock, deadline) ||
            !spinner_spin(&spinner, deadline))
            return false;
    store_relaxed(&block->words[CRW_SHUT], 1);
    return true;
}

/* The caller has the cohort lock, and is counted. Returns false if the deadline has
 * passed, or if readers are inside and it only `tries`. */
static inline bool crw_enter(struct rwlock *lock, struct side_block *block, bool tries,
                             const struct deadline *deadline)
{
    uint32_t batch = load_relaxed(&block->words[CRW_IN_BATCH]);
    if (!batch) {
        if (!load_relaxed(&block->words[CRW_SHUT]) &&
            !crw_shut(lock, block, tries, deadline))
            return false;
        if (!reader_gates_close(lock) && (tries || !readers_await(lock, deadline)))
            return false;
    }
    store_relaxed(&block->words[CRW_IN_BATCH], batch + 1);
    return true;
}

/* With readers preferred, a writer gives way to readers that came meanwhile: they wait
 * until it does (crw_read_preferred). */
static inline bool crw_enter_if_none(struct rwlock *lock, bool tries,
                                     const struct deadline *deadline)
{
    while (!reader_gates_close(lock)) {
        reader_gates_open(lock);
        if (tries || !readers_await(lock, deadline))
            return false;
    }
    return true;
}

/* The caller has the cohort lock: opens the gates unless it leaves them closed to the
 * other writers. */
static inline void crw_open_if_due(struct rwlock *lock, struct side_block *block,
                                   uint32_t others)
{
    uint32_t batch = load_relaxed(&block->words[CRW_IN_BATCH]);
    if (others && (rwlock_prefers_writers(lock) || batch < CRW_BATCH))
        return;
    store_relaxed(&block->words[CRW_IN_BATCH], 0);
    if (!load_relaxed(&block->words[CRW_SHUT]))
        return;
    store_relaxed(&block->words[CRW_SHUT], 0);
    reader_gates_open(lock);
}

/* Returns how many writers wait; `count` does not include the caller. */
static inline uint32_t crw_others(const struct rwlock *lock, uint32_t count)
{
    return rwlock_prefers_writers(lock) ? count : admission_count(count);
}

/* The caller holds the cohort lock. */
static inline void crw_leave(struct rwlock *lock, struct side_block *block,
                             enum crw_preference preference)
{
    struct atomic_u32 *count = &block->words[CRW_COUNT];
    uint32_t was = 0;
    if (preference == CRW_READERS) {
        reader_gates_open(lock);
    } else if (preference != CRW_NEUTRAL) {
        was = admission_leave(count);
        crw_open_if_due(lock, block, crw_others(lock, was - 1));
    }
    crw_inner_operations()->unlock(inner_mutex_in(block));
    admission_wake(count, was);
}

/* A writer has given up without the cohort lock and is no longer counted (I3). */
static inline void crw_give_up(struct rwlock *lock, struct side_block *block)
{
    struct atomic_u32 *count = &block->words[CRW_COUNT];
    while (load_relaxed(count) == 0 && load_relaxed(&block->words[CRW_SHUT])) {
        if (crw_inner_operations()->trylock(inner_mutex_in(block))) {
            crw_open_if_due(lock, block, crw_others(lock, load_relaxed(count)));
            crw_inner_operations()->unlock(inner_mutex_in(block));
            return;
        }
        relax();
    }
}

static inline bool crw_write_within(struct rwlock *lock, enum crw_preference preference,
                                    bool tries, const struct deadline *deadline)
{
    struct side_block *block = crw_block(lock);
    bool came = preference == CRW_NEUTRAL
                    ? tries ? readers_are_gone(lock) : readers_await(lock, deadline)
                : preference == CRW_READERS
                    ? crw_enter_if_none(lock, tries, deadline)
                    : crw_enter(lock, block, tries, deadline);
    if (came)
        return true;
    if (preference == CRW_READERS)
        crw_inner_operations()->unlock(inner_mutex_in(block));
    else
        crw_leave(lock, block, preference);
    return false;
}

static inline bool crw_write_trylock(struct rwlock *lock, enum crw_preference wanted)
{
    enum thin_result result = thin_write(lock);
    if (result != THIN_USELESS)
        return result == THIN_ENTERED;
    enum crw_preference preference = crw_of(lock, wanted);
    struct side_block *block = crw_block(lock);
    if (!crw_inner_operations()->trylock(inner_mutex_in(block)))
        return false;
    if (preference == CRW_WRITERS)
        fetch_add_relaxed(&block->words[CRW_COUNT], 1);
    return crw_write_within(lock, preference, true, NULL);
}

static inline bool crw_write_fast(struct rwlock *lock, enum crw_preference wanted)
{
    return !unlikely(is_forked_child()) && crw_write_trylock(lock, wanted);
}

/* Writers are preferred: waits for the cohort lock. The caller is counted until it
 * leaves. Returns false if the deadline has passed. */
static inline bool crw_queue_writer(struct rwlock *lock, struct side_block *block,
                                    const struct deadline *deadline)
{
    struct atomic_u32 *count = &block->words[CRW_COUNT];
    if (admission_get(count, admission_places(0), deadline)) {
        if (inner_mutex_lock(inner_mutex_in(block), crw_inner_operations(), deadline))
            return true;
        admission_wake(count, admission_leave(count));
    }
    crw_give_up(lock, block);
    return false;
}

static inline bool crw_write_wait(struct rwlock *lock, enum crw_preference wanted,
                                  const struct deadline *deadline)
{
    if (thin_inflate_unless_entered(lock, thin_write(lock)))
        return true;
    enum crw_preference preference = crw_of(lock, wanted);
    struct side_block *block = crw_block(lock);
    bool came = preference == CRW_WRITERS ? crw_queue_writer(lock, block, deadline)
                                          : crw_queue(block, deadline);
    return came && crw_write_within(lock, preference, false, deadline);
}

static inline void crw_write_unlock(struct rwlock *lock, enum crw_preference wanted)
{
    if (!thin_write_unlock(lock))
        crw_leave(lock, crw_block(lock), crw_of(lock, wanted));
}

void crw_forget(struct rwlock *lock) __attribute__((visibility("hidden")));
void crw_destroy(struct rwlock *lock, enum crw_preference preference)
    __attribute__((visibility("hidden")));

#endif
