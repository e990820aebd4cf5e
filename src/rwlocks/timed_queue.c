/* SPDX-License-Identifier: MIT */
#include "rwlocks/timed_queue.h"

struct atomic_u64 timed_queue_found;

const struct lock_operations *timed_queue_find(void)
{
    const struct lock_operations *found =
        inner_mutex_operations(inner_mutex_index("mcs-park"));
    store_relaxed(&timed_queue_found, (uint64_t)(uintptr_t)found);
    return found;
}
