/* SPDX-License-Identifier: MIT */
/*
 * Growing and shrinking. The number of buckets doubles when they hold more than 0.7
 * entries on average, so that few chains have a further bucket, and halves when they
 * hold less than a fifth. Nobody counts entries: a thread that had to use a further
 * bucket of a chain, or has removed an entry, now and then looks at some neighbouring
 * buckets, and at more of them before the table is replaced.
 *
 * R1. A table gets a `next` once, from the thread that set `resizing`.
 * R2. A bucket is moved by a thread that holds its chain and those in the next table to
 *     which its entries go. All entries are there before MOVED is stored, with release,
 *     and until then writers use the old bucket. So a key has one bucket at any time.
 * R3. Chains are locked from older tables to newer ones.
 * R4. The thread that moves the last bucket makes the next table the map's and retires
 *     the old one. Readers that still use the old one follow MOVED.
 */
#ifndef HASP_STRUCTURES_MAP_RESIZE_H
#define HASP_STRUCTURES_MAP_RESIZE_H

#include "structures/map/map.h"

/* A thread looks at one of so many of its removals; a power of 2. */
enum { RESIZE_SHRINK_CHANCE = 256 };

/* Replaces the table if the buckets near this hash suggest that. `removed`: by a
 * smaller one, else by a larger one. */
void resize_consider(struct map *map, struct epochs_record *record, struct table *table,
                     uint64_t hash, bool removed);

/* Counts a removal. Returns whether the thread should call resize_consider() for it:
 * when the count overflows, which costs no comparison. */
static inline bool resize_due(struct epochs_record *record)
{
    const uint32_t step = UINT32_MAX / RESIZE_SHRINK_CHANCE + 1;
    return __builtin_add_overflow(record->removals, step, &record->removals);
}

/* Moves some buckets of a table that has a next one. */
void resize_help(struct map *map, struct epochs_record *record, struct table *table);

/* Begins to replace the table by one with `count` buckets, unless that is under way or
 * memory is short. Returns whether it has begun. */
bool resize_begin(struct map *map, struct table *table, uint64_t count);

/* Finishes what has begun, and shrinks the table as far as its entries allow. Returns
 * false if memory is short or another thread is still moving buckets. */
bool resize_settle(struct map *map, struct epochs_record *record);

#endif
