/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Barriers between processes that share memory, or between threads that may die.
 *
 * A barrier has a fixed number of members. Each is a thread, of any of the processes,
 * which opens the barrier once, and then waits in one phase after the other. If a
 * member closes, or its thread or process ends, the others are told so and do not wait
 * for ever. Between threads of one process that always arrive, hasp/barrier.h is
 * smaller and has other algorithms.
 *
 * Compile and link with `pkg-config --cflags --libs hasp`. C11 and C++17.
 *
 * MEMORY. The program provides it: hasp_shared_barrier_size() bytes, aligned to
 * HASP_SHARED_BARRIER_ALIGNMENT, in which hasp_shared_barrier_init() makes a barrier.
 * It holds no pointers, so processes may map it at different addresses. It must stay
 * mapped until all members have returned from their last call.
 *
 * THREADS. Only the thread that opened a struct hasp_member uses it. Not for signal
 * handlers. After fork(), the child must not use what its parent has opened; it may
 * open a place that nobody has taken.
 *
 * MEMORY ORDER. What the members did before they waited in a phase happens before
 * everything that they do after it.
 *
 * WAITING. A waiter spins; with HASP_SHARED_BARRIER_PARK it sleeps after it has spun
 * for about as long as a sleep costs. Choose HASP_SHARED_BARRIER_SPIN only if each
 * member has a CPU of its own.
 *
 * RESULTS. Functions return 0 or an error number; they do not set errno:
 *   EPIPE       a member has closed before it arrived in this phase
 *   EOWNERDEAD  a member's thread or process has ended before it arrived in this
 *               phase. Waiters notice it within about a third of a second. Needs /proc,
 *               and all processes in one PID namespace. After EPIPE or EOWNERDEAD the
 *               phase will never be complete: close the member
 *   ETIMEDOUT   the time `until`, which is absolute, has come (NULL: wait for ever).
 *               The member has still arrived; the next call waits for the same phase
 *   EBUSY       all places are taken
 *   EINVAL      an argument is wrong, or the memory holds no barrier; also for a clock
 *               other than CLOCK_REALTIME and CLOCK_MONOTONIC, or for an `until` whose
 *               nanoseconds are out of range, once the member would have slept
 */
#ifndef HASP_SHARED_BARRIER_H
#define HASP_SHARED_BARRIER_H

#include <hasp/channel.h>

#include "structures/channel/shared_barrier.h"

enum {
    HASP_SHARED_BARRIER_ALIGNMENT = 128, /**< of a barrier's memory */
    HASP_SHARED_BARRIER_MEMBERS = 4096,  /**< the most members */
    HASP_SHARED_BARRIER_SPIN = 0,        /**< flag: waiters spin */
    HASP_SHARED_BARRIER_PARK = 1,        /**< flag: waiters spin, then sleep */
};

/** A barrier, in memory of hasp_shared_barrier_size() bytes. */
struct hasp_shared_barrier;

/** A member of a barrier. The contents are private. */
struct hasp_member {
    struct member member;
};

/** @return the size of a barrier in bytes, or 0 unless `members` is from 1 to
 * HASP_SHARED_BARRIER_MEMBERS */
static inline size_t hasp_shared_barrier_size(uint32_t members)
{
    return shared_barrier_size(members);
}

/** Makes a barrier in the memory. Nobody may use the memory meanwhile.
 * @param flags HASP_SHARED_BARRIER_SPIN or HASP_SHARED_BARRIER_PARK
 * @return 0 or EINVAL */
static inline int hasp_shared_barrier_init(struct hasp_shared_barrier *barrier,
                                           uint32_t members, uint32_t flags)
{
    return shared_barrier_init((struct shared_barrier *)barrier, members, flags);
}

/** Makes the calling thread a member, for good.
 * @return 0, EBUSY or EINVAL */
MUST_CHECK static inline int hasp_member_open(struct hasp_member *member,
                                              struct hasp_shared_barrier *barrier)
{
    return member_open(&member->member, (struct shared_barrier *)barrier);
}

/** @return the number of the member, from 0 to one less than the number of members. No
 * two members have the same one, so member 0 can do what is needed once in a phase */
static inline uint32_t hasp_member_index(const struct hasp_member *member)
{
    return member->member.index;
}

/** Leaves the barrier. The others get EPIPE when they wait for a phase in which this
 * member has not arrived. */
static inline void hasp_member_close(struct hasp_member *member)
{
    member_close(&member->member);
}

/** Arrives, and waits until all members have arrived.
 * @return 0, EPIPE, EOWNERDEAD, ETIMEDOUT or EINVAL */
static inline int hasp_member_clockwait(struct hasp_member *member, clockid_t clock,
                                        const struct timespec *until)
{
    struct deadline deadline;
    return member_wait(&member->member, hasp_channel_deadline(&deadline, clock, until));
}

/** The same with CLOCK_MONOTONIC. */
static inline int hasp_member_wait(struct hasp_member *member,
                                   const struct timespec *until)
{
    return hasp_member_clockwait(member, CLOCK_MONOTONIC, until);
}

#endif
