/* SPDX-License-Identifier: MIT */
/*
 * Fork repair: removes the parent's threads from a lock's queue in a forked child.
 *
 * A forked child inherits queues that contain threads of its parent. Those threads do
 * not exist in the child, so a handover to one of them would be lost. Every lock with a
 * queue therefore records the generation in which a thread last waited. Every thread
 * compares that generation before it queues, and every holder before it starts its
 * release. In the child's first such operation on the lock, one thread claims the
 * repair and calls the algorithm's forget(lock, held). If threads of the parent are
 * queued, forget() leaves the lock either held without waiters or free; otherwise it
 * must change nothing.
 *
 * Why this is sound when a lock has queued threads of the parent:
 * G1. No thread of the child acquires the lock before the repair: the fast path fails
 *     when there is a queue, and every other path passes through here first.
 * G2. So the holder, if any, is the thread that forked. `word` shows whether there is
 *     one, or, in locks whose word stands between hand-overs, a node that holds
 *     (waiting/held_nodes.h): a holder clears either only after it has waited for a
 *     repair in progress.
 * G3. A lock that had just been granted to a thread of the parent shows neither, and
 *     becomes free, unless it was handed over with its word (handed_body.h). If no
 *     thread of the parent is queued, a live holder may come and go meanwhile.
 *
 * A lock in which a thread has never waited shows generation 0. In a process that is
 * not a forked child, a thread may queue first and record the generation afterwards
 * (fork_repair_after_queueing). So in a child, a lock that shows 0 may have a thread of
 * the parent queued, too, and the holder must not rely on the 0: it calls
 * fork_repair_in_child().
 *
 * The stores in forget() need no order of their own: a thread that reads more than the
 * word used by the fast path has read the generation (acquire) that the repair stored
 * last (release). What forget() reads was stored before the fork, or is checked by an
 * exchange.
 */
#ifndef HASP_LOCKS_MEMORY_FORK_REPAIR_H
#define HASP_LOCKS_MEMORY_FORK_REPAIR_H

#include "locks/lock.h"

enum { FORK_REPAIR_RUNNING = 0xffff };

static __attribute__((noinline, unused)) void
fork_repair_claim(struct lock *lock, uint16_t seen, uint32_t now,
                  void (*forget)(struct lock *, bool held))
{
    if (seen != FORK_REPAIR_RUNNING) {
        bool ever = seen != 0 || now != 1;
        uint16_t claim = ever ? FORK_REPAIR_RUNNING : (uint16_t)now;
        if (compare_exchange_relaxed(&lock->generation, &seen, claim)) {
            if (ever) {
                forget(lock, load_relaxed(&lock->word) != 0);
                store_release(&lock->generation, (uint16_t)now);
            }
            return;
        }
    }
    spin_until(load_acquire(&lock->generation) != FORK_REPAIR_RUNNING);
}

/* Called by a thread that is about to queue. */
static inline void fork_repair_if_due(struct lock *lock,
                                      void (*forget)(struct lock *, bool held))
{
    uint32_t now = fork_generation();
    uint16_t seen = load_acquire(&lock->generation);
    if (unlikely(seen != now))
        fork_repair_claim(lock, seen, now, forget);
}

/* Called by a thread that queued without fork_repair_if_due(), because the process is
 * not a forked child. */
static inline void fork_repair_after_queueing(struct lock *lock)
{
    uint16_t never = 0;
    if (unlikely(load_relaxed(&lock->generation) == 0))
        compare_exchange_relaxed(&lock->generation, &never, 1);
}

/* Called by the holder before any step of a release. */
static inline void fork_repair_by_holder(struct lock *lock,
                                         void (*forget)(struct lock *, bool held))
{
    if (unlikely(load_relaxed(&lock->generation) != 0))
        fork_repair_if_due(lock, forget);
}

/* The same for locks whose threads may queue before they record the generation. */
static inline void fork_repair_in_child(struct lock *lock,
                                        void (*forget)(struct lock *, bool held))
{
    if (unlikely(is_forked_child()))
        fork_repair_if_due(lock, forget);
}

#endif
