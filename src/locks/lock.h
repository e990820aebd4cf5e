/* SPDX-License-Identifier: MIT */
/*
 * The layout of every lock: 40 bytes that overlay a pthread_mutex_t.
 *
 * Memory that is zero except for `kind` is an unlocked lock of any algorithm. Offsets 0
 * to 16 match glibc's, so that debuggers, and code that bypasses the interposer, read
 * what they expect.
 *
 *   word        0 free. `futex` follows glibc's protocol here: 1 held, 2 or more held
 *               with possible sleepers; the test-and-set family stores 1. All other
 *               algorithms keep their state in `state` and store 2 here while the lock
 *               is held, so that code that bypasses the interposer at least waits.
 *   owner       kernel id of the holding thread, written by the holder only, or
 *               OWNER_IN_NODE. Meaningless while the word is 0: only algorithms that
 *               acquire through the word clear it, which saves the others a store.
 *               Valid once the word is not 0.
 *   count, users, kind   recursion depth, threads waiting on a condition variable with
 *                        this lock, glibc's mutex kind. Only the interposer uses them.
 *   algorithm   index into the lock list; 0 selects the default of the process.
 *   mode        sticky flags of the algorithm.
 *   generation  fork generation in which a thread last waited (fork_repair.h); 0 never.
 *   state       16 bytes for the algorithm.
 *
 * RELEASE RULE. After the store, exchange or grant that releases a lock, the releaser
 * neither reads nor writes these bytes: the last user may have unmapped them. It may
 * call unpark() with an address inside them, and may use memory of the library.
 */
#ifndef HASP_LOCKS_LOCK_H
#define HASP_LOCKS_LOCK_H

#include "platform/platform.h"

struct lock {
    struct atomic_u32 word;
    uint32_t count;
    struct atomic_u32 owner;
    uint32_t users;
    int32_t kind;
    struct atomic_u8 algorithm;
    struct atomic_u8 mode;
    struct atomic_u16 generation;
    struct atomic_u32 state[4];
} __attribute__((aligned(8)));

_Static_assert(sizeof(struct lock) == 40, "lies over the 40 used bytes of a mutex");

/* In `owner` of a held lock: a queue node holds (waiting/held_nodes.h). Never the id of
 * a thread. */
#define OWNER_IN_NODE 0x3fffffffu

/* In a tail cell: held with no waiters. Never the id of a waiter. */
#define TAIL_HELD UINT32_MAX

#endif
