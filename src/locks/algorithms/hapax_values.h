/* SPDX-License-Identifier: MIT */
/*
 * The values of a hapax lock, which are used only once, and the slots that waiters of
 * all locks watch.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HAPAX_VALUES_H
#define HASP_LOCKS_ALGORITHMS_HAPAX_VALUES_H

#include "platform/platform.h"

enum {
    HAPAX_HELD = 1,
    HAPAX_FAST = 2,
    HAPAX_STEP = 4, /* from one index of a block to the next */
    HAPAX_SHARD_SHIFT = 16,
    HAPAX_SHARDS = 256,
    HAPAX_COUNT_SHIFT = 24,
    HAPAX_SLOTS = 16, /* in the array, for each shard: a line */
};

struct hapax_counter {
    struct atomic_u64 drawn;
} __attribute__((aligned(CACHE_LINE)));

static struct hapax_counter hapax_counters[HAPAX_SHARDS];
static struct atomic_u64 hapax_array[HAPAX_SHARDS][HAPAX_SLOTS]
    __attribute__((aligned(CACHE_LINE)));

/* Few other threads use the slots of a thread's values. */
static inline struct atomic_u64 *hapax_slot(uint64_t value)
{
    return &hapax_array[value >> HAPAX_SHARD_SHIFT & (HAPAX_SHARDS - 1)]
                       [value >> HAPAX_COUNT_SHIFT & (HAPAX_SLOTS - 1)];
}

/* Returns the first value of a new block. */
static inline uint64_t hapax_draw(void)
{
    uint64_t shard = current_thread() % HAPAX_SHARDS;
    uint64_t count = fetch_add_relaxed(&hapax_counters[shard].drawn, 1) + 1;
    return count << HAPAX_COUNT_SHIFT | shard << HAPAX_SHARD_SHIFT;
}

static inline bool hapax_used_up(uint64_t value)
{
    return (value | (HAPAX_STEP - 1)) % (1 << HAPAX_SHARD_SHIFT) ==
           (1 << HAPAX_SHARD_SHIFT) - 1;
}

/* Notifies the waiter of `value`, after the store of depart or of a token. */
static inline void hapax_call(uint64_t value)
{
    store_release(hapax_slot(value), value);
}

#endif
