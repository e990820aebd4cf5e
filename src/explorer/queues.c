/* SPDX-License-Identifier: MIT */
/* Clients whose threads queue in a known order, so that no preemption need be found. */
#include "explorer/turns.h"

/* Threads after the first arrive one by one while it has the lock: the queue is there
 * without a preemption that the search would have to find. */
void wait_for_arrivals(unsigned count)
{
    spin_until(load_relaxed(&arrived) == count);
}

void arrive(unsigned thread)
{
    wait_for_arrivals(thread - 1);
    store_relaxed(&arrived, thread);
}

void serve(void)
{
    lock();
    store_relaxed(&served, 1);
    section();
    unlock();
}

void hold_until_arrived(unsigned count)
{
    lock();
    wait_for_arrivals(count);
    section();
    unlock();
}

/* Two queue behind the first, which comes back when the next has the lock. */
void queue_of_two(unsigned thread)
{
    if (thread == 0) {
        hold_until_arrived(2);
        spin_until(load_relaxed(&served));
        take_turn();
    } else {
        arrive(thread);
        serve();
    }
}

/* Three queue behind the first, which comes back at once, or then, and may give up. */
void queue_of_three(unsigned thread)
{
    if (thread == 0) {
        hold_until_arrived(3);
        if (choose(2))
            spin_until(load_relaxed(&served));
        take_turn_if_in_time();
    } else {
        arrive(thread);
        serve();
    }
}

/* Two of those who queue may give up. */
void queue_of_leavers(unsigned thread)
{
    if (thread == 0) {
        hold_until_arrived(2);
        take_turn();
    } else {
        arrive(thread);
        take_turn_if_in_time();
    }
}
