/* SPDX-License-Identifier: MIT */
#include "locks/algorithms/futex.h"

struct atomic_u32 futex_sleepers[FUTEX_BUCKETS]
    __attribute__((aligned(CACHE_LINE)));

bool futex_wait_biased(struct lock *lock, const struct deadline *deadline)
{
    struct atomic_u32 *sleepers = futex_bucket(lock);
    fetch_add_relaxed(sleepers, 1); /* the barrier orders it; slices need no order */
    bool ordered = heavy_barrier();
    bool acquired;
    do {
        struct deadline slice;
        if (!ordered)
            slice = deadline_after(FUTEX_SLICE_NS);
        acquired =
            futex_sleep_or_spin(lock, FUTEX_IN_VAIN, ordered ? deadline : &slice);
    } while (!acquired && !ordered && !(deadline && deadline_passed(deadline)));
    if (acquired)
        store_relaxed(&lock->mode, FUTEX_SHARED);
    fetch_add_relaxed(sleepers, UINT32_MAX); /* subtract one */
    return acquired;
}
