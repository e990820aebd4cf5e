/* SPDX-License-Identifier: MIT */
#include "explorer/clients/forks.h"

#include "explorer/clients/critical_sections.h"
#include "explorer/clients/queues.h"

/* The holder forks while two others use the lock; a new thread starts in the child. */
void fork_while_held(unsigned thread)
{
    if (thread == 0) {
        lock();
        section();
        fork_here();
        section();
        unlock();
    } else {
        enter();
    }
}

/* The holder hands the lock to one of two waiters and forks before these move. */
static void hand_over_and_fork(uint32_t arrivals)
{
    wait_for_arrivals(arrivals);
    section();
    watch_waiters();
    unlock();
    if (fork_here_if_unmoved(1u << 1 | 1u << 2))
        enter();
}

/* The lock has just been handed to one of two waiters, and these do not exist in the
 * child. There the lock is free for the first thread and for a new one. (If it was
 * handed to a thread with no waiter after it, nothing shows that the holder is gone:
 * the lock stays held, as with any other thread that vanishes.) */
void fork_after_grant(unsigned thread)
{
    if (thread == 0) {
        lock();
        hand_over_and_fork(2);
    } else {
        if (thread < 3)
            arrive(thread);
        enter();
    }
}

/* The same, but the thread that hands the lock over has itself waited for it, so it may
 * hold by a queue node. */
void fork_after_grant_by_waiter(unsigned thread)
{
    if (thread == 0) {
        lock();
        spin_until(load_relaxed(&arrived) != 0);
        unlock();
        spin_until(load_relaxed(&served));
        lock();
        hand_over_and_fork(3);
    } else if (thread == 1) {
        arrive(1);
        enter_visibly();
        wait_for_arrivals(2);
        store_relaxed(&arrived, 3);
        enter();
    } else {
        if (thread == 2)
            arrive(2);
        enter();
    }
}
