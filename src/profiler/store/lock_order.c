/* SPDX-License-Identifier: MIT */
#include "profiler/store/lock_order.h"

#include <sys/mman.h>

enum { PAIRS_MOST = 1 << 16, SLOTS = 2 * PAIRS_MOST };

static struct atomic_u64 slots; /* struct atomic_u32 *: numbers of pairs by hash */
static struct atomic_u32 adding;

SERIES(pair_records, TRACE_LOCK_ORDER, struct trace_lock_order, PAIRS_MOST);

static const size_t slots_bytes = sizeof(struct atomic_u32) * SLOTS;

static struct atomic_u32 *table(void)
{
    return (struct atomic_u32 *)(uintptr_t)load_acquire(&slots);
}

void lock_order_forget(void)
{
    if (table())
        munmap(table(), slots_bytes);
    store_relaxed(&slots, 0);
    store_relaxed(&adding, 0);
    series_forget(&pair_records);
}

/* Returns the record of a pair, or NULL; *slot is its slot or the empty one for it. */
static struct trace_lock_order *look_up(uint32_t outer, uint32_t inner,
                                        struct atomic_u32 **slot)
{
    uint64_t at = lock_order_hash(outer, inner) >> 40;
    for (;; at++) {
        *slot = &table()[at % SLOTS];
        uint32_t number = load_acquire(*slot);
        if (!number)
            return NULL;
        struct trace_lock_order *edge = series_at(&pair_records, number);
        if (edge->outer == outer && edge->inner == inner)
            return edge;
    }
}

struct trace_lock_order *lock_order_find(uint32_t outer, uint32_t inner)
{
    struct atomic_u32 *slot;
    return table() ? look_up(outer, inner, &slot) : NULL;
}

bool lock_order_has_space(void)
{
    return load_relaxed(&pair_records.count) < PAIRS_MOST;
}

struct trace_lock_order *lock_order_add(const struct trace_lock_order *record)
{
    struct trace_lock_order *edge = NULL;
    struct atomic_u32 *slot;
    uint32_t number;
    if (!brief_lock(&adding))
        return NULL;
    if (!table())
        store_release(&slots, (uintptr_t)map_pages(slots_bytes));
    if (table()) {
        edge = look_up(record->outer, record->inner, &slot);
        if (!edge && (edge = series_append(&pair_records, record, &number)))
            store_release(slot, number);
    }
    brief_unlock(&adding);
    return edge;
}
