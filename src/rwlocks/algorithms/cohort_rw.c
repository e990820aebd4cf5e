/* SPDX-License-Identifier: MIT */
#include "rwlocks/algorithms/cohort_rw.h"

#include "locks/waiting/held_nodes.h"

struct atomic_u64 crw_operations;

const struct lock_operations *crw_find_operations(void)
{
    const struct lock_operations *found =
        inner_mutex_operations(inner_mutex_index("c-ptl-tkt"));
    store_relaxed(&crw_operations, (uint64_t)(uintptr_t)found);
    return found;
}

/* A thread of the parent held the cohort lock, or waited for it: makes it free. */
static void forget_inner(struct lock *inner)
{
    struct waiter *node = held_nodes_search(inner);
    if (node)
        store_relaxed(&node->holds, 0);
    store_relaxed(&inner->word, 0);
    store_relaxed(&inner->owner, 0);
    store_relaxed(&inner->mode, 0);
    for (unsigned i = 0; i < sizeof inner->state / sizeof inner->state[0]; i++)
        store_relaxed(&inner->state[i], 0);
    store_relaxed(&inner->generation, 0);
}

/* Nobody in the child has used the lock yet. The cohort lock of a writer stays: it
 * repairs its own queue. Readers are all counted in the thin form. */
void crw_forget(struct rwlock *lock)
{
    const bool written = load_relaxed(&lock->writer) != 0;
    const bool thinly = written && load_relaxed(thin_word(lock)) & THIN_WRITER;
    const bool inflated = written && !thinly;
    thin_forget(lock, thinly    ? THIN_WRITER
                      : written ? 0
                                : THIN_READER * read_holds_counted(lock));
    if (!load_relaxed(&lock->side))
        return;
    for (uint32_t node = 0; node < READER_NODES; node++) {
        struct side_block *gate = side_memory_find(&lock->side, READER_GATES + node);
        for (unsigned word = 0; gate && word <= READERS_BARRED; word++)
            store_relaxed(&gate->words[word], word || !inflated ? 0 : GATE_CLOSED);
    }
    struct side_block *block = crw_block(lock);
    if (!inflated)
        forget_inner(inner_mutex_in(block));
    store_relaxed(&block->words[CRW_COUNT], inflated);
    store_relaxed(&block->words[CRW_QUEUED], 0);
    store_relaxed(&block->words[CRW_IN_BATCH], inflated);
    store_relaxed(&block->words[CRW_SHUT], inflated);
}

void crw_destroy(struct rwlock *lock, enum crw_preference preference)
{
    (void)preference;
    thin_destroy(lock);
    if (!load_relaxed(&lock->side))
        return;
    struct lock *inner = inner_mutex_in(crw_block(lock));
    if (!load_relaxed(&lock->writer)) { /* otherwise it is destroyed while it is held */
        crw_inner_operations()->lock(inner);   /* N1 of inner_mutex.h */
        crw_inner_operations()->unlock(inner); /* a holder may keep its node */
        crw_inner_operations()->destroy(inner);
        side_memory_free(&lock->side);
    }
    store_relaxed(&lock->side, 0);
}
