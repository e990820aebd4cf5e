/* SPDX-License-Identifier: MIT */
/*
 * The lock study's competitive spin locks where its library, LiTL, differs from the
 * papers (tas.h): failing trylocks write to the word, the release of the spinlock is a
 * compare-and-set, and waiters of TTAS-ls prefetch the word for writing without a pause
 * between.
 *
 *   word  0 free, 1 held
 */
#ifndef HASP_BENCH_PUBLISHED_STUDY_SPIN_H
#define HASP_BENCH_PUBLISHED_STUDY_SPIN_H

#include "bench/published/tas.h"

static inline void published_study_spinlock_lock(struct lock *lock)
{
    published_cas_lock(lock);
}

static inline bool published_study_spinlock_trylock(struct lock *lock)
{
    return published_cas_trylock(lock);
}

static inline void published_study_spinlock_unlock(struct lock *lock)
{
    (void)release_if(&lock->word, 1, 0);
}

static inline void published_study_ttas_lock(struct lock *lock)
{
    published_plain_ttas_lock(lock);
}

static inline bool published_study_ttas_trylock(struct lock *lock)
{
    return published_tas_trylock(lock);
}

static inline void published_study_ttas_unlock(struct lock *lock)
{
    published_tas_unlock(lock);
}

static inline void published_study_ttas_ls_lock(struct lock *lock)
{
    while (true) {
        prefetch_for_write(&lock->word);
        if (load_relaxed(&lock->word)) {
            relax();
            continue;
        }
        if (published_tas_trylock(lock))
            return;
        published_ttas_pause(lock);
    }
}

static inline bool published_study_ttas_ls_trylock(struct lock *lock)
{
    return published_tas_trylock(lock);
}

static inline void published_study_ttas_ls_unlock(struct lock *lock)
{
    published_tas_unlock(lock);
}

#endif
