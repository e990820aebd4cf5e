/* SPDX-License-Identifier: MIT */
#include "rwlocks/algorithms/cohort_rw.h"

struct atomic_u64 crw_operations;

const struct lock_operations *crw_find_operations(void)
{
    const struct lock_operations *found =
        inner_mutex_operations(inner_mutex_index("c-ptl-tkt"));
    store_relaxed(&crw_operations, (uint64_t)(uintptr_t)found);
    return found;
}

/* Nobody in the child has used the lock yet. */
void crw_forget(struct rwlock *lock)
{
    if (!load_relaxed(&lock->side))
        return;
    uint32_t inside = load_relaxed(&lock->writer) ? 0 : read_holds_counted(lock);
    for (uint32_t node = 0; node < CRW_NODES; node++) {
        struct side_block *block = side_memory_find(&lock->side, CRW_COUNTERS + node);
        if (block)
            store_relaxed(&block->words[0], 0);
    }
    fetch_add_relaxed(crw_counter(lock), inside);
    struct side_block *block = crw_block(lock);
    bool written = load_relaxed(&lock->writer) != 0;
    store_relaxed(&block->words[CRW_BARRIER], 0);
    store_relaxed(&block->words[CRW_ACTIVE], written);
    if (written)
        return; /* the cohort lock repairs its queue */
    for (unsigned word = 0; word < sizeof(struct lock) / sizeof(uint32_t); word++)
        store_relaxed(&block->words[word], 0);
}

void crw_destroy(struct rwlock *lock, enum crw_preference preference)
{
    (void)preference;
    if (!load_relaxed(&lock->side))
        return;
    struct lock *inner = inner_mutex_in(crw_block(lock));
    if (crw_inner_operations()->trylock(inner)) { /* N1 of inner_mutex.h */
        crw_inner_operations()->unlock(inner); /* a holder may keep its node */
        crw_inner_operations()->destroy(inner);
        side_memory_free(&lock->side);
    }
    store_relaxed(&lock->side, 0);
}
