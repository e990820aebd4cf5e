/* SPDX-License-Identifier: MIT */
#include "locks/futex.h"

struct atomic_u32 futex_sleepers[FUTEX_BUCKETS];

static struct deadline slice_from_now(void)
{
    struct deadline slice = {CLOCK_MONOTONIC, {0, 0}};
    uint64_t at = now_ns() + FUTEX_SLICE_NS;
    slice.at.tv_sec = (time_t)(at / 1000000000u);
    slice.at.tv_nsec = (long)(at % 1000000000u);
    return slice;
}

bool futex_wait_biased(struct lock *lock, const struct deadline *deadline)
{
    struct atomic_u32 *sleepers = futex_bucket(lock);
    fetch_add_acq_rel(sleepers, 1);
    bool ordered = heavy_barrier();
    bool acquired = true;
    while (exchange_acquire(&lock->word, 2) != 0) {
        if (ordered) {
            acquired = park(&lock->word, 2, deadline);
        } else {
            struct deadline slice = slice_from_now();
            park(&lock->word, 2, &slice);
            acquired = !deadline || !deadline_passed(deadline);
        }
        if (!acquired)
            break;
    }
    if (acquired)
        store_relaxed(&lock->mode, FUTEX_SHARED);
    fetch_add_release(sleepers, UINT32_MAX); /* one less */
    return acquired;
}
