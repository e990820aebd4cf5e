/* SPDX-License-Identifier: MIT */
/*
 * Fissile lock. D. Dice, A. Kogan, "Fissile locks", arXiv 2003.05025, 2020: the holder
 * of the inner lock becomes impatient after 50 steps.
 *
 *   word       0 free, 1 held, IMPATIENT: free, but only for the holder of the inner
 *              lock
 *   impatient  what a release stores in the word
 *   tail       of the inner lock, a cna.h lock that searches for the successor before
 *              it waits for the word
 */
#ifndef HASP_BENCH_PUBLISHED_FISSILE_H
#define HASP_BENCH_PUBLISHED_FISSILE_H

#include "bench/published/cna.h"

enum {
    PUBLISHED_FISSILE_IMPATIENT = 2,
    PUBLISHED_FISSILE_PATIENCE = 50,
    PUBLISHED_FISSILE_FLUSH = 256,
};

static inline struct atomic_u32 *published_fissile_impatient(struct lock *lock)
{
    return &lock->state[1];
}

static inline bool published_fissile_trylock(struct lock *lock)
{
    return load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, 1);
}

static inline void published_fissile_wait(struct lock *lock)
{
    uint32_t patience = PUBLISHED_FISSILE_PATIENCE;
    while (load_relaxed(&lock->word) == 1 || exchange_acquire(&lock->word, 1) == 1) {
        uint32_t steps = relax_at_most(patience ? patience : UINT32_MAX);
        if (patience && !(patience -= steps < patience ? steps : patience))
            store_relaxed(published_fissile_impatient(lock),
                          PUBLISHED_FISSILE_IMPATIENT);
    }
    if (!patience)
        store_relaxed(published_fissile_impatient(lock), 0);
}

static inline void published_fissile_lock(struct lock *lock)
{
    if (published_fissile_trylock(lock))
        return;
    const struct published_cna cna = published_cna_of(lock);
    uint32_t self = published_thread() + 1, successor = 0;
    struct published_cna_node *mine = published_cna_node(&cna, self);
    published_cna_acquire(&cna, self);
    bool flushes = published_cna_flushes(PUBLISHED_FISSILE_FLUSH);
    if (!flushes)
        successor = published_cna_local(&cna, mine);
    (void)relax_at_most(1); /* the loop below does not watch the nodes read above */
    published_fissile_wait(lock);
    if (!published_cna_queued(&cna, self))
        return;
    if (!successor && !flushes)
        successor = published_cna_local(&cna, mine); /* it may have arrived since */
    published_cna_pass(&cna, self, successor);
}

static inline void published_fissile_unlock(struct lock *lock)
{
    store_release(&lock->word, load_relaxed(published_fissile_impatient(lock)));
}

#endif
