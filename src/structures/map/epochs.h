/* SPDX-License-Identifier: MIT */
/*
 * Epochs: when memory that readers may still read can be freed. K. Fraser, "Practical
 * lock-freedom", PhD thesis, Cambridge 2004, section 5.2.3; with the asymmetric barrier
 * of M. Desnoyers et al., "User-level implementations of read-copy update", IEEE TPDS
 * 2012, so that a reader executes no fence.
 *
 * Each thread has a record. A reader stores the current epoch into its own record,
 * reads, and stores 0: it writes no line that another thread reads, except when memory
 * is reclaimed. A section inside a section, also one in a signal handler, does nothing.
 *
 *   now      the current epoch, at least 1
 *   fenced   readers execute full fences, because the platform has no heavy barrier
 *   records  list of all records; a record is never freed, only used again
 *   epoch    in a record: the epoch in which its thread's section began, or 0
 *
 * I1. A reader that entered in epoch e keeps `now` at e or e + 1: an advance checks
 *     every record, after a heavy barrier. A reader whose record the check missed reads
 *     only what is reachable after that barrier.
 * I2. Memory that was unlinked before a full fence, after which `now` was t, may be
 *     freed when `now` is at least t + EPOCHS_APART. The advance to t + 2 saw every
 *     reader that entered before t + 1, the one to t + 3 those that entered in t + 1.
 *     Those can hold the memory because nothing orders the unlinking before the advance
 *     to t + 1. Later readers began after a barrier that followed the unlinking.
 * I3. epochs_leave's release pairs with the acquire in epochs_advance, and that advance
 *     with the acquire in the next one: what a reader read happens before the memory is
 *     freed.
 */
#ifndef HASP_STRUCTURES_MAP_EPOCHS_H
#define HASP_STRUCTURES_MAP_EPOCHS_H

#include "platform/platform.h"

enum { EPOCHS_APART = 3 };

struct epochs_record {
    struct atomic_u64 epoch;
    struct atomic_u32 taken;    /* a thread uses it */
    uint32_t number;            /* of the record, from 0; never changes */
    uint32_t chances;           /* to enlarge a table that the thread has had */
    uint32_t removals;          /* resize_due() */
    uint32_t pressure;          /* retired since the thread last reclaimed */
    struct epochs_record *next; /* never changes */
} __attribute__((aligned(CACHE_LINE)));

struct epochs {
    struct atomic_u64 now __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 fenced;
    struct atomic_u64 records __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 record_count;
};

static inline void epochs_prepare(struct epochs *epochs, bool fenced)
{
    store_relaxed(&epochs->fenced, fenced);
    store_relaxed(&epochs->now, 1);
}

static inline struct epochs_record *epochs_first(struct epochs *epochs)
{
    /* Acquire: pairs with the release in epochs_add. */
    return (struct epochs_record *)(uintptr_t)load_acquire(&epochs->records);
}

/* Adds a zeroed record, which the caller has taken. */
static inline void epochs_add(struct epochs *epochs, struct epochs_record *record)
{
    record->number = fetch_add_relaxed(&epochs->record_count, 1);
    uint64_t first = load_relaxed(&epochs->records);
    do
        record->next = (struct epochs_record *)(uintptr_t)first;
    while (!compare_exchange_release(&epochs->records, &first,
                                     (uint64_t)(uintptr_t)record));
}

/* Returns a record that a thread has given back, now taken; or NULL. */
static inline struct epochs_record *epochs_take(struct epochs *epochs)
{
    struct epochs_record *record = epochs_first(epochs);
    while (record && !acquire_if(&record->taken, 0, 1))
        record = record->next;
    return record;
}

/* Acquire: pairs with the release here. */
static inline void epochs_give(struct epochs_record *record)
{
    store_release(&record->taken, 0);
}

/* Begins a section of a thread that is in none, where readers execute no fences. */
static inline void epochs_enter_first(struct epochs *epochs,
                                      struct epochs_record *record)
{
    /* Acquire: pairs with the release in epochs_advance (I2). */
    store_relaxed(&record->epoch, load_acquire(&epochs->now));
    light_barrier();
}

/* Begins a section. Returns whether it is the outermost one, for epochs_leave(). */
static inline bool epochs_enter(struct epochs *epochs, struct epochs_record *record)
{
    if (unlikely(load_relaxed(&record->epoch)))
        return false;
    epochs_enter_first(epochs, record);
    if (unlikely(load_relaxed(&epochs->fenced)))
        fence_seq_cst();
    return true;
}

static inline void epochs_leave(struct epochs_record *record, bool outermost)
{
    if (likely(outermost))
        store_release(&record->epoch, 0);
}

/* Ends the current epoch if no reader hinders it. Returns the epoch afterwards, read
 * after a full fence; or 0 if the platform's barrier has failed. */
static inline uint64_t epochs_advance(struct epochs *epochs)
{
    /* The fence orders what follows after this load. */
    uint64_t now = load_relaxed(&epochs->now);
    if (load_relaxed(&epochs->fenced))
        fence_seq_cst();
    else if (!heavy_barrier())
        return 0;
    struct epochs_record *record = epochs_first(epochs);
    for (; record; record = record->next) {
        uint64_t epoch = load_acquire(&record->epoch);
        if (epoch && epoch != now)
            return load_acquire(&epochs->now);
    }
    /* Fails if another thread has advanced. If not, the load above has read from the
     * last advance, and the fence has acquired it. */
    if (compare_exchange_release(&epochs->now, &now, now + 1))
        return now + 1;
    return load_acquire(&epochs->now);
}

#endif
