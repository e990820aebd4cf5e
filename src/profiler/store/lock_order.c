/* SPDX-License-Identifier: MIT */
#include "profiler/store/lock_order.h"

#include <sys/mman.h>

enum { EDGES_MOST = 1 << 16, PLACES = 2 * EDGES_MOST };

static struct atomic_u64 places; /* struct atomic_u32 *: numbers, by the pair's hash */
static struct atomic_u32 adding;

SERIES(edge_records, TRACE_EDGES, struct trace_edge, EDGES_MOST);

static const size_t places_bytes = sizeof(struct atomic_u32) * PLACES;

static struct atomic_u32 *table(void)
{
    return (struct atomic_u32 *)(uintptr_t)load_acquire(&places);
}

void lock_order_forget(void)
{
    if (table())
        munmap(table(), places_bytes);
    store_relaxed(&places, 0);
    store_relaxed(&adding, 0);
    series_forget(&edge_records);
}

/* The record of a pair, or NULL and the empty place where it would be. */
static struct trace_edge *look_up(uint32_t outer, uint32_t inner,
                                  struct atomic_u32 **place)
{
    uint64_t at = lock_order_hash(outer, inner) >> 40;
    for (;; at++) {
        *place = &table()[at % PLACES];
        uint32_t number = load_acquire(*place);
        if (!number)
            return NULL;
        struct trace_edge *edge = series_at(&edge_records, number);
        if (edge->outer == outer && edge->inner == inner)
            return edge;
    }
}

struct trace_edge *lock_order_find(uint32_t outer, uint32_t inner)
{
    struct atomic_u32 *place;
    return table() ? look_up(outer, inner, &place) : NULL;
}

bool lock_order_has_space(void)
{
    return load_relaxed(&edge_records.count) < EDGES_MOST;
}

struct trace_edge *lock_order_add(const struct trace_edge *record)
{
    struct trace_edge *edge = NULL;
    struct atomic_u32 *place;
    uint32_t number;
    brief_lock(&adding);
    if (!table())
        store_release(&places, (uintptr_t)map_pages(places_bytes));
    if (table()) {
        edge = look_up(record->outer, record->inner, &place);
        if (!edge && (edge = series_append(&edge_records, record, &number)))
            store_release(place, number);
    }
    brief_unlock(&adding);
    return edge;
}
