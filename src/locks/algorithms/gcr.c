/* SPDX-License-Identifier: MIT */
/*
 * Parts of wrapped locks that have no room for an id: found by the lock's address.
 *
 * Lists that only ever grow, at the head; a part whose lock was destroyed has key 0
 * and is taken by the next lock that comes to its bucket. A mutex that is freed without
 * being destroyed leaves its part to the next one at that address: nobody waits in it.
 * Two threads may at once make two parts for one lock. Then there are two active sets
 * for a while: later threads find the first of them, and each thread leaves the set
 * that it entered.
 *
 * A bucket and one word are the whole address: locks are aligned to 8 bytes, and user
 * space has 48 bits.
 */
#include "locks/algorithms/gcr.h"

enum { GCR_ALIGNED_BITS = 3, GCR_BUCKET_BITS = 13, GCR_BUCKETS = 1 << GCR_BUCKET_BITS };

/* Ids of the first parts. */
static struct atomic_u32 buckets[GCR_BUCKETS] __attribute__((aligned(CACHE_LINE)));

/* What the bucket does not say; never 0. */
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

/* The one with this key, from the part `id` on; with `take`, or one that is free, which
 * then has it. */
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
        /* Release: whoever finds the part sees the above. */
        if (compare_exchange_release(bucket, &first, fresh->link.id)) {
            pool_keep(&side_pool, (struct pool_slot *)fresh);
            return gcr;
        }
        side_block_give(fresh); /* somebody else's may be this lock's */
    }
}

void gcr_forget_address(const struct lock *lock)
{
    const uint32_t key = key_of(lock);
    struct gcr *gcr;
    while ((gcr = find(load_acquire(bucket_of(lock)), key, false)))
        store_release(&gcr->key, 0);
}
