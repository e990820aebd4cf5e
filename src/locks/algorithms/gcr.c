/* SPDX-License-Identifier: MIT */
/*
 * Side blocks of wrapped locks that cannot store an id: found by the lock's address.
 *
 * The buckets are lists that only grow, at the head. A block whose lock was destroyed
 * has key 0 and is reused by the next lock of its bucket. A mutex that is freed without
 * being destroyed leaves its block to the next one at that address; no thread waits in
 * it. Two threads may create two blocks for one lock at the same time. Then there are
 * two active sets for a while: later threads find the first of them, and each thread
 * leaves the set that it entered.
 *
 * A bucket and one word represent the whole address: locks are aligned to 8 bytes, and
 * user space has 48 bits.
 */
#include "locks/algorithms/gcr.h"

enum { GCR_ALIGNED_BITS = 3, GCR_BUCKET_BITS = 13, GCR_BUCKETS = 1 << GCR_BUCKET_BITS };

/* Ids of the first blocks. */
static struct atomic_u32 buckets[GCR_BUCKETS] __attribute__((aligned(CACHE_LINE)));

/* The part of the address that the bucket does not determine; never 0. */
static uint32_t key_of(const struct lock *lock)
{
    return (uint32_t)((uintptr_t)lock >> (GCR_ALIGNED_BITS + GCR_BUCKET_BITS));
}

static struct atomic_u32 *bucket_of(const struct lock *lock)
{
    uint32_t low = (uint32_t)((uintptr_t)lock >> GCR_ALIGNED_BITS);
    return &buckets[(low ^ key_of(lock)) % GCR_BUCKETS];
}

static struct gcr *gcr_at(uint32_t id)
{
    return (struct gcr *)(void *)side_block_at(id)->words;
}

/* Returns the block with this key, starting with the block `id`. With `take`, also
 * claims one that is free. */
static struct gcr *find(uint32_t id, uint32_t key, bool take)
{
    while (id) {
        struct gcr *gcr = gcr_at(id);
        uint32_t seen = load_acquire(&gcr->key);
        if (seen == key)
            return gcr;
        if (take && !seen && compare_exchange_acquire(&gcr->key, &seen, key))
            return gcr;
        id = load_relaxed(&gcr->next);
    }
    return NULL;
}

struct gcr *gcr_by_address(const struct lock *lock)
{
    const uint32_t key = key_of(lock);
    struct atomic_u32 *bucket = bucket_of(lock);
    while (true) {
        uint32_t first = load_acquire(bucket);
        struct gcr *found = find(first, key, false);
        if (found || (found = find(first, key, true)))
            return found;
        struct side_block *fresh = side_block_take();
        struct gcr *gcr = gcr_at(fresh->link.id);
        store_relaxed(&gcr->key, key);
        store_relaxed(&gcr->next, first);
        /* Release: a thread that finds the block sees the stores above. */
        if (compare_exchange_release(bucket, &first, fresh->link.id)) {
            pool_keep(&side_pool, (struct pool_slot *)fresh);
            return gcr;
        }
        side_block_give(fresh); /* another thread's block may have this lock's key */
    }
}

void gcr_forget_address(const struct lock *lock)
{
    const uint32_t key = key_of(lock);
    struct gcr *gcr;
    while ((gcr = find(load_acquire(bucket_of(lock)), key, false)))
        store_release(&gcr->key, 0);
}
