/* SPDX-License-Identifier: MIT */
#include "profiler/store/lock_registry.h"

#include <sys/mman.h>

enum {
    INDEX_BITS = 21, /* of slots; at most half of them are used */
    LOCKS_MOST = 1 << (INDEX_BITS - 1),
};

struct registry_lock *registry_locks;

static struct atomic_u32 *index_slots;
static struct atomic_u32 adding;
static uint32_t addresses; /* slots in use */

SERIES(lock_records, TRACE_LOCKS, struct trace_lock, LOCKS_MOST);

static const size_t index_bytes = sizeof(struct atomic_u32) << INDEX_BITS;
static const size_t locks_bytes = sizeof(struct registry_lock) * (LOCKS_MOST + 1);

bool registry_map(void)
{
    index_slots = map_pages(index_bytes);
    registry_locks = map_pages(locks_bytes);
    return index_slots && registry_locks;
}

void registry_forget(void)
{
    if (index_slots) /* unless the fork interrupted the start of recording */
        munmap(index_slots, index_bytes);
    if (registry_locks)
        munmap(registry_locks, locks_bytes);
    index_slots = NULL;
    registry_locks = NULL;
    addresses = 0;
    store_relaxed(&adding, 0);
    series_forget(&lock_records);
}

/* Returns the slot of the address, or the empty slot for it, with *number 0. */
static struct atomic_u32 *slot_of(uintptr_t address, uint32_t *number)
{
    uint64_t at = address * 0x9e3779b97f4a7c15u >> (64 - INDEX_BITS);
    for (;; at = (at + 1) & ((1u << INDEX_BITS) - 1)) {
        *number = load_acquire(&index_slots[at]);
        if (!*number || load_relaxed(&registry_locks[*number].address) == address)
            return &index_slots[at];
    }
}

uint32_t registry_find(uintptr_t address)
{
    uint32_t number;
    slot_of(address, &number);
    return number;
}

struct trace_lock *registry_record(uint32_t number)
{
    return series_at(&lock_records, number);
}

/* Reuses the record when a lock of the same origin is created at the same address. */
static bool revive(uint32_t number, const struct registry_origin *origin)
{
    struct registry_lock *lock = &registry_locks[number];
    if (lock->site != origin->site)
        return false;
    struct trace_lock *record = registry_record(number);
    record->creations++;
    record->died = 0;
    record->flags = origin->flags;
    lock->dead = 0;
    lock->released = 0;
    return true;
}

static uint32_t append(uintptr_t address, const struct registry_origin *origin)
{
    uint32_t number = 0;
    const struct trace_lock record = {
        .address = address,
        .kind = origin->as->lock_kind,
        .flags = origin->flags,
        .created_stack = origin->created ? origin->stack : 0,
        .first_stack = origin->created ? 0 : origin->stack,
        .site = origin->site,
        .creations = 1,
        .born = origin->born,
        .creator = origin->thread,
        .bytes = origin->as->bytes,
    };
    if (trace_file_is_nearly_full() || !series_append(&lock_records, &record, &number))
        return 0;
    struct registry_lock *lock = &registry_locks[number];
    lock->site = origin->site;
    store_relaxed(&lock->address, address);
    return number;
}

uint32_t registry_add(uintptr_t address, const struct registry_origin *origin)
{
    uint32_t old, number;
    if (!brief_lock(&adding)) {
        add_shared(&trace->lost_locks, 1);
        return 0;
    }
    struct atomic_u32 *slot = slot_of(address, &old);
    if (old && (!origin->created || revive(old, origin))) {
        brief_unlock(&adding);
        return old;
    }
    number = old || addresses < LOCKS_MOST ? append(address, origin) : 0;
    if (number) {
        if (old)
            store_relaxed(&registry_locks[old].address, 0);
        else
            addresses++;
        store_release(slot, number); /* pairs with slot_of() */
    } else {
        add_shared(&trace->lost_locks, 1);
    }
    brief_unlock(&adding);
    return number;
}

bool registry_destroy(uint32_t number)
{
    struct registry_lock *lock = &registry_locks[number];
    if (lock->dead)
        return false;
    lock->dead = 1;
    registry_record(number)->died = ticks();
    return true;
}
