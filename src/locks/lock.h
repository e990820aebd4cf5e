/* SPDX-License-Identifier: MIT */
/*
 * The body of every lock: 40 bytes that lie over a pthread_mutex_t.
 *
 * Zeroed memory, but for `kind`, is an unlocked lock of any algorithm. Offsets 0 to 16
 * are glibc's, so that debuggers and code that bypasses the interposer read what they
 * expect.
 *
 *   word        0 free. `futex` keeps glibc's protocol in it: 1 held, 2 held and
 *               somebody may sleep; the test-and-set family its own 1. Most algorithms
 *               keep their state in `state` and show 2 here while held: a bypassing
 *               locker then at least waits.
 *   owner       kernel id of the holder; written by the holder only. When the word is 0
 *               it means nothing (only those clear it that take the lock by the word:
 *               one store less for the others); once the word is not 0, it is the
 *               holder's.
 *   count, users, kind   recursion depth, threads waiting on a condition variable with
 *               this lock, glibc's mutex kind: of the interposer, which alone uses
 *               them.
 *   algorithm   index into the lock list; 0 means the process's default.
 *   mode        sticky flags of the algorithm.
 *   generation  fork generation in which somebody last waited (fork_repair.h); 0 never.
 *   state       16 bytes for the algorithm.
 *
 * RELEASE RULE. After the store, exchange or grant that releases a lock, the releaser
 * neither reads nor writes these bytes: the last user may have unmapped them. It may
 * call unpark() with an address inside them, and use memory of the library.
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

/* In a tail cell: held, and nobody waits. Never a waiter's id. */
#define TAIL_HELD UINT32_MAX

#endif
