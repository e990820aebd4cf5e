/* SPDX-License-Identifier: MIT */
#include "locks/algorithms/futex.h"

struct atomic_u32 futex_sleepers[FUTEX_BUCKETS]
    __attribute__((aligned(CACHE_LINE)));

bool futex_wait_biased(struct lock *lock, const struct deadline *deadline)
{
    struct atomic_u32 *sleepers = futex_bucket(lock);
    fetch_add_relaxed(sleepers, 1); /* the barrier orders it; slices need no order */
    bool ordered = heavy_barrier();
    bool acquired = true;
    while (exchange_acquire(&lock->word, 2) != 0) {
        if (ordered) {
            acquired = park(&lock->word, 2, deadline);
        } else {
            struct deadline slice = deadline_after(FUTEX_SLICE_NS);
            park(&lock->word, 2, &slice);
            acquired = !deadline || !deadline_passed(deadline);
        }
        if (!acquired)
            break;
    }
    if (acquired)
        store_relaxed(&lock->mode, FUTEX_SHARED);
    fetch_add_relaxed(sleepers, UINT32_MAX); /* subtract one */
    return acquired;
}
