/* SPDX-License-Identifier: MIT */
/*
 * The layout of a barrier: 32 bytes that lie over a pthread_barrier_t.
 *
 *   arrivals    central.h: threads that have arrived so far
 *   count       threads that a phase waits for; where glibc keeps it
 *   kind        BARRIER_OURS and the index in the list; glibc keeps 0 or FUTEX_SHARED
 *               here, which distinguishes its own barriers
 *   block       id of a block (below); 0 once the barrier has been destroyed
 *   base        `round` of that block when the barrier was initialised
 *   generation  fork generation in which the barrier is used (positions.h)
 *   central     central.h's protocol applies, whatever the kind
 *
 * RELEASE RULE. A thread's arrival is its last access to these bytes: as soon as all
 * have arrived, another thread may destroy and unmap the barrier. Threads wait in
 * blocks, which belong to the library and are never unmapped.
 *
 * BLOCKS. A block's `round` counts the phases of the barriers that use it, in steps of
 * 2, and is never reset, so that a slow thread can leave after its block has gone to
 * another barrier. Its lowest bit is set while threads may be asleep (cells.h).
 */
#ifndef HASP_BARRIERS_BARRIER_H
#define HASP_BARRIERS_BARRIER_H

#include "locks/memory/pool.h"

#include <stddef.h>

enum { BARRIER_OURS = 0x48530000, BARRIER_INDEX = 0xffff };

struct barrier {
    struct atomic_u64 arrivals;
    uint32_t count;
    uint32_t kind;
    uint32_t block;
    uint32_t base;
    struct atomic_u32 generation;
    uint32_t central;
};

_Static_assert(sizeof(struct barrier) == 32, "lies over a pthread_barrier_t");
_Static_assert(offsetof(struct barrier, kind) == 12, "lies over glibc's `shared`");

enum { BARRIER_WORDS = POOL_PAYLOAD / sizeof(struct atomic_u32) - 1 };

struct barrier_block {
    struct atomic_u32 round;
    struct atomic_u32 words[BARRIER_WORDS];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct barrier_block, link) == offsetof(struct pool_slot, link),
               "a block is a slot of its pool");

extern struct pool barrier_pool __attribute__((visibility("hidden")));

static inline struct barrier_block *barrier_block_at(uint32_t id)
{
    return (struct barrier_block *)pool_at(&barrier_pool, id);
}

/* Returns a block whose words are 0. */
struct barrier_block *barrier_block_take(void) __attribute__((visibility("hidden")));
void barrier_block_give(struct barrier_block *block)
    __attribute__((visibility("hidden")));

static inline bool barrier_is_ours(const struct barrier *barrier)
{
    return (barrier->kind & ~(uint32_t)BARRIER_INDEX) == BARRIER_OURS;
}

/* Returns whether threads wait; false also if that cannot be seen. */
static inline bool barrier_is_waited_at(const struct barrier *barrier)
{
    return load_relaxed(&barrier->arrivals) % barrier->count != 0;
}

#endif
