/* SPDX-License-Identifier: MIT */
/*
 * Barriers for a fixed set of members, in one process or in several that share memory.
 * The central barrier of J. Mellor-Crummey, M. Scott, "Algorithms for scalable
 * synchronization on shared-memory multiprocessors", TOCS 1991, with a place for each
 * member, so that a member that closes or dies is reported to those who wait for it.
 *
 *   arrivals   members that have arrived in this phase
 *   rounds     complete phases
 *   closed     members that have closed
 *   bell       the cell on which members sleep (barriers/cells.h): advances when a
 *              phase is complete and when a member closes
 *   place      of a member: who it is, the number of the last phase in which it has
 *              arrived, counted from 1, and whether it has closed
 *
 * S1. A member counts itself in (acq_rel), so the last one of a phase has seen all that
 *     the others did before. It advances `rounds` (release); a member that reads that
 *     (acquire) leaves. No member arrives in the next phase before, so the counter can
 *     be reset in between.
 * S2. A sleeper sets the bit in the bell (acquire), even if it is set, then looks at
 *     `rounds` and `closed`, and sleeps only while the bell has that value. Who
 *     changes one of those two then advances the bell (release). The second at the
 *     bell sees what the first one did: the sleeper does not sleep, or is woken. That
 *     the bell only grows matters: a bit that is cleared, and set by another sleeper,
 *     would give it the same value again.
 * S3. A member writes its phase before it arrives, and marks its place as closed
 *     (release; pairs with a waiter's acquire) after that. A waiter whose phase is not
 *     complete waits in vain once it finds a member closed or gone that has not arrived
 *     in it. `closed` only tells it when to look.
 */
#ifndef HASP_STRUCTURES_CHANNEL_SHARED_BARRIER_H
#define HASP_STRUCTURES_CHANNEL_SHARED_BARRIER_H

#include <errno.h>
#include <stddef.h>

#include "platform/platform.h"

enum { SHARED_BARRIER_PARKS = 1, SHARED_BARRIER_MOST = 4096 /* members */ };

struct member_place {
    struct thread_name name;
    struct atomic_u32 arrived; /* phase */
    struct atomic_u32 closed;
} __attribute__((aligned(CACHE_LINE)));

struct shared_barrier {
    uint32_t magic, members, flags;
    struct atomic_u32 arrivals __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 bell;
    struct atomic_u32 rounds __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 closed;
} __attribute__((aligned(CACHE_LINE))); /* the places follow */

/* A member. Only its thread uses it. */
struct member {
    struct shared_barrier *barrier;
    uint32_t index;
    uint32_t phase; /* the one it is in, from 1 */
    bool waits;     /* it has arrived in the phase, which is not complete */
};

static inline struct member_place *member_places(struct shared_barrier *barrier)
{
    return (struct member_place *)(void *)(barrier + 1);
}

size_t shared_barrier_size(uint32_t members);

/* Returns 0 or EINVAL. */
int shared_barrier_init(struct shared_barrier *barrier, uint32_t members,
                        uint32_t flags);

/* Takes a free place. Returns 0, EBUSY if there is none, or EINVAL. */
int member_open(struct member *member, struct shared_barrier *barrier);
void member_close(struct member *member);

/* Arrives, unless the member has already arrived in this phase, and waits until all
 * members have. Returns 0, EPIPE, EOWNERDEAD, ETIMEDOUT or EINVAL. */
int member_wait(struct member *member, const struct deadline *deadline);

#endif
