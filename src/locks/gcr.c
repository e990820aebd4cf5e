/* SPDX-License-Identifier: MIT */
/*
 * Parts of wrapped locks that have no room for an id: found by the lock's address.
 *
 * Lists that only ever grow, at the head; a part whose lock was destroyed has address 0
 * and is taken by the next lock that comes to its bucket. A mutex that is freed without
 * being destroyed leaves its part to the next one at that address: nobody waits in it.
 * Two threads may at once make two parts for one lock. Then there are two active sets
 * for a while: later threads find the first of them, and each thread leaves the set
 * that it entered.
 */
#include "locks/gcr.h"

enum { GCR_BUCKETS = 256 };

static struct atomic_u32 buckets[GCR_BUCKETS]; /* id of the first part */

static struct atomic_u32 *bucket_of(uint64_t address)
{
    return &buckets[(address >> 3 ^ address >> 11) % GCR_BUCKETS];
}

static struct gcr *gcr_at(uint32_t id)
{
    return (struct gcr *)(void *)part_at(id)->words;
}

/* The one with this address, from the part `id` on; with `take`, or one that is free,
 * which then has it. */
static struct gcr *find(uint32_t id, uint64_t address, bool take)
{
    while (id) {
        struct gcr *gcr = gcr_at(id);
        uint64_t seen = load_acquire(&gcr->address);
        if (seen == address)
            return gcr;
        if (take && !seen && compare_exchange_acquire(&gcr->address, &seen, address))
            return gcr;
        id = load_relaxed(&gcr->next);
    }
    return NULL;
}

/* Not by part_take: the model checker wants a cell's zeros to be of its size. */
static struct part *fresh_part(uint64_t address, uint32_t next)
{
    struct part *part = (struct part *)pool_take(&part_pool);
    struct gcr *gcr = gcr_at(part->link.id);
    store_relaxed(&gcr->passive.generation, 0);
    gcr_forget(&gcr->passive, false);
    store_relaxed(&gcr->next, next);
    store_relaxed(&gcr->address, address);
    return part;
}

struct gcr *gcr_by_address(const struct lock *lock)
{
    const uint64_t address = (uintptr_t)lock;
    struct atomic_u32 *bucket = bucket_of(address);
    while (true) {
        uint32_t first = load_acquire(bucket);
        struct gcr *found = find(first, address, false);
        if (found || (found = find(first, address, true)))
            return found;
        struct part *fresh = fresh_part(address, first);
        /* Release: whoever finds the part sees what is in it. */
        if (compare_exchange_release(bucket, &first, fresh->link.id)) {
            pool_keep(&part_pool, (struct pool_slot *)fresh);
            return gcr_at(fresh->link.id);
        }
        part_give(fresh); /* somebody else's may be this lock's */
    }
}

void gcr_forget_address(const struct lock *lock)
{
    const uint64_t address = (uintptr_t)lock;
    struct gcr *gcr;
    while ((gcr = find(load_acquire(bucket_of(address)), address, false)))
        store_release(&gcr->address, 0);
}
