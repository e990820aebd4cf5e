/* SPDX-License-Identifier: MIT */
/*
 * The layout of every reader-writer lock: 56 bytes that overlay a pthread_rwlock_t.
 *
 * Memory that is zero except for `kind` is a free lock of any algorithm. `shared` and
 * `kind` are where glibc has its __shared and __flags, because glibc's initialisers set
 * them. A lock that several processes share stays glibc's; `shared` is nonzero then.
 *
 *   word, state, more, side   for the algorithm
 *   writer      kernel id of the thread that holds the lock for writing, else 0; where
 *               glibc has its __cur_writer. Written by that thread only.
 *   algorithm   slot of the algorithm; 0 selects the default of the process.
 *   generation  fork generation in which a thread last waited (fork_repair.h); 0 never.
 *   bias        for the wrapper bravo+LOCK
 *
 * RELEASE RULE. As in locks/lock.h: after the store or exchange that releases a lock,
 * the releaser neither reads nor writes these bytes. It may call unpark() with an
 * address inside them, and may use memory of the library.
 */
#ifndef HASP_RWLOCKS_RWLOCK_H
#define HASP_RWLOCKS_RWLOCK_H

#include "platform/platform.h"

#include <stddef.h>

struct rwlock {
    struct atomic_u64 word;
    struct atomic_u32 state[4];
    struct atomic_u32 writer;
    int32_t shared;
    uint8_t unused; /* glibc's __rwelision on x86-64 */
    struct atomic_u8 algorithm;
    struct atomic_u16 generation;
    struct atomic_u32 side;
    struct atomic_u32 more[2];
    uint32_t kind; /* glibc's PTHREAD_RWLOCK_PREFER_..._NP */
    struct atomic_u32 bias;
} __attribute__((aligned(8)));

_Static_assert(sizeof(struct rwlock) == 56, "lies over a pthread_rwlock_t");
_Static_assert(offsetof(struct rwlock, writer) == 24, "glibc's __cur_writer");
_Static_assert(offsetof(struct rwlock, shared) == 28, "glibc's __shared");
_Static_assert(offsetof(struct rwlock, kind) == 48, "glibc's __flags");

/* The value of PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP: readers wait as long as a
 * writer waits. With every other kind, glibc prefers readers. */
enum { RWLOCK_WRITERS_FIRST = 2 };

static inline bool rwlock_prefers_writers(const struct rwlock *lock)
{
    return lock->kind == RWLOCK_WRITERS_FIRST;
}

/* What a thread would find, for tools: a hint that may be old when it is used. */
enum rwlock_use { RWLOCK_FREE, RWLOCK_READ, RWLOCK_WRITTEN };

#endif
