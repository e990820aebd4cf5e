/* SPDX-License-Identifier: MIT */
/*
 * Flat-combining MCS lock. D. Dice, V. Marathe, N. Shavit, "Flat-combining NUMA locks",
 * SPAA 2011. The number of passes over the requests is ours.
 *
 *   tail      1 + the last thread of the global queue, 0 free
 *   combiner  of each NUMA node: 1 while a thread collects requests; the threads that
 *             have ever made one
 *   record    of each thread, on a line of its own: whether it asks to be queued; 1 +
 *             the successor; whether it waits
 */
#ifndef HASP_BENCH_PUBLISHED_FC_MCS_H
#define HASP_BENCH_PUBLISHED_FC_MCS_H

#include "bench/published/body.h"

enum { PUBLISHED_FC_MCS_PASSES = 20 };

struct published_fc_mcs_record {
    struct atomic_u32 asks, next, waits;
    uint32_t listed; /* 1 + the thread that was listed before; for the first: itself */
} PUBLISHED_ALONE;

struct published_fc_mcs_combiner {
    struct atomic_u32 busy;
    uint32_t listed; /* 1 + the thread that was listed last */
} PUBLISHED_ALONE;

struct published_fc_mcs {
    struct published_fc_mcs_combiner *combiners;
    struct published_fc_mcs_record *records;
};

static inline struct published_fc_mcs published_fc_mcs_of(struct lock *lock)
{
    size_t combiners = node_count() * sizeof(struct published_fc_mcs_combiner);
    size_t records = published_threads() * sizeof(struct published_fc_mcs_record);
    char *body = published_body(lock, combiners + records);
    return (struct published_fc_mcs){(void *)body, (void *)(body + combiners)};
}

/* Appends all requests to a chain from *first to *last, which are 0 if it is empty. */
static inline void published_fc_mcs_collect(const struct published_fc_mcs *own,
                                            struct published_fc_mcs_combiner *combiner,
                                            uint32_t *first, uint32_t *last)
{
    uint32_t thread = combiner->listed, before = 0;
    for (; thread != before; thread = own->records[thread - 1].listed) {
        struct published_fc_mcs_record *record = &own->records[thread - 1];
        before = thread;
        if (!load_acquire(&record->asks))
            continue;
        if (*last)
            store_relaxed(&own->records[*last - 1].next, thread);
        else
            *first = thread;
        *last = thread;
        store_release(&record->asks, 0);
    }
}

static inline void published_fc_mcs_combine(struct lock *lock,
                                            const struct published_fc_mcs *own,
                                            struct published_fc_mcs_combiner *combiner)
{
    uint32_t first = 0, last = 0;
    for (int pass = 0; pass < PUBLISHED_FC_MCS_PASSES; pass++) {
        published_fc_mcs_collect(own, combiner, &first, &last);
        (void)relax_at_most(1);
    }
    if (!last)
        return;
    uint32_t before = exchange_acq_rel(&lock->state[0], last);
    if (before)
        store_release(&own->records[before - 1].next, first);
    else
        store_release(&own->records[first - 1].waits, 0);
}

static inline void published_fc_mcs_lock(struct lock *lock)
{
    const struct published_fc_mcs own = published_fc_mcs_of(lock);
    struct published_fc_mcs_combiner *combiner = &own.combiners[current_node()];
    uint32_t self = published_thread() + 1;
    struct published_fc_mcs_record *mine = &own.records[self - 1];
    store_relaxed(&mine->next, 0);
    store_relaxed(&mine->waits, 1);
    store_release(&mine->asks, 1);
    if (!mine->listed) {
        mine->listed = combiner->listed ? combiner->listed : self;
        combiner->listed = self;
    }
    while (load_acquire(&mine->asks)) {
        if (load_relaxed(&combiner->busy) || test_and_set_acquire(&combiner->busy)) {
            relax();
            continue;
        }
        if (load_acquire(&mine->asks))
            published_fc_mcs_combine(lock, &own, combiner);
        store_release(&combiner->busy, 0);
        (void)relax_at_most(1); /* the loop below watches its own record only */
    }
    spin_until(!load_acquire(&mine->waits));
}

static inline void published_fc_mcs_unlock(struct lock *lock)
{
    const struct published_fc_mcs own = published_fc_mcs_of(lock);
    uint32_t self = published_thread() + 1, next;
    struct published_fc_mcs_record *mine = &own.records[self - 1];
    if (!(next = load_acquire(&mine->next))) {
        if (release_if(&lock->state[0], self, 0))
            return;
        spin_until((next = load_acquire(&mine->next)) != 0);
    }
    store_release(&own.records[next - 1].waits, 0);
}

#endif
