/* SPDX-License-Identifier: MIT */
/*
 * The values of a hapax lock, which are used only once, and the slots that waiters of
 * all locks watch.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HAPAX_VALUES_H
#define HASP_LOCKS_ALGORITHMS_HAPAX_VALUES_H

#include "platform/platform.h"

/* The bits of a value (hapax.h). */
enum {
    HAPAX_OWNERS = 256,
    HAPAX_HELD = 1 << 8,
    HAPAX_FAST = 1 << 9,
    HAPAX_STEP = 1 << 10, /* from one index of a block to the next */
    HAPAX_SHARD_SHIFT = 20,
    HAPAX_COUNT_SHIFT = 28,
    HAPAX_SLOTS = 16, /* in the array, for each owner: a line */
};

struct hapax_counter {
    struct atomic_u64 drawn;
} __attribute__((aligned(CACHE_LINE)));

static struct hapax_counter hapax_counters[HAPAX_OWNERS];
static struct atomic_u64 hapax_array[HAPAX_OWNERS][HAPAX_SLOTS]
    __attribute__((aligned(CACHE_LINE)));

/* Returns the slot of a value. The owner's id selects the line, so that few threads
 * store to the same one. */
static inline struct atomic_u64 *hapax_slot(uint64_t value)
{
    return &hapax_array[value % HAPAX_OWNERS]
                       [value >> HAPAX_COUNT_SHIFT & (HAPAX_SLOTS - 1)];
}

/* Returns the first value of a new block. */
static inline uint64_t hapax_draw(void)
{
    uint64_t owner = current_thread() % HAPAX_OWNERS;
    uint64_t count = fetch_add_relaxed(&hapax_counters[owner].drawn, 1) + 1;
    return count << HAPAX_COUNT_SHIFT | owner << HAPAX_SHARD_SHIFT | owner;
}

/* Returns the next value of the block, for a thread that finds the lock free. The first
 * index shows that the block is used up. */
static inline uint64_t hapax_next(uint64_t value, uint32_t thread)
{
    uint64_t owner = thread % HAPAX_OWNERS;
    return (value | (HAPAX_STEP - 1)) + (1 + HAPAX_FAST + owner);
}

static inline bool hapax_is_first(uint64_t value)
{
    return (value & ((1 << HAPAX_SHARD_SHIFT) - HAPAX_STEP)) == 0;
}

/* Notifies the waiter of `value`, after the store of depart or of a token. */
static inline void hapax_call(uint64_t value)
{
    store_release(hapax_slot(value), value);
}

#endif
