/* SPDX-License-Identifier: MIT */
/* Forks: the other threads are ghosts in the child. */
#include "explorer/turns.h"

/* The holder forks while two others are under way; in the child a new thread comes. */
void fork_while_held(unsigned thread)
{
    if (thread == 0) {
        lock();
        section();
        fork_here();
        section();
        unlock();
    } else {
        take_turn();
    }
}

/* The lock has just been handed to one of two waiters that are no more. In the child it
 * is free, for the first thread and for a new one. (Granted with nobody behind, it may
 * show no ghosts, and be held for ever as by any other thread: fork_repair.h.) */
void fork_after_grant(unsigned thread)
{
    if (thread == 0) {
        lock();
        wait_for_arrivals(2);
        section();
        watch_waiters();
        unlock();
        if (fork_here_if_unmoved(1u << 1 | 1u << 2))
            take_turn();
    } else {
        if (thread < 3)
            arrive(thread);
        take_turn();
    }
}
