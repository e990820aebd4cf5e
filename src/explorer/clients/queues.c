/* SPDX-License-Identifier: MIT */
#include "explorer/clients/queues.h"

#include "explorer/clients/critical_sections.h"
#include "locks/memory/side_memory.h"

void wait_for_arrivals(unsigned count)
{
    spin_until(load_relaxed(&arrived) == count);
}

void arrive(unsigned thread)
{
    wait_for_arrivals(thread - 1);
    store_relaxed(&arrived, thread);
}

void enter_visibly(void)
{
    lock();
    store_relaxed(&served, 1);
    section();
    unlock();
}

static void hold_until_arrived(unsigned count)
{
    lock();
    wait_for_arrivals(count);
    section();
    unlock();
}

/* Two threads queue; the first one locks again when one of them has the lock. */
void queue_of_two(unsigned thread)
{
    if (thread == 0) {
        hold_until_arrived(2);
        spin_until(load_relaxed(&served));
        enter();
    } else {
        arrive(thread);
        enter_visibly();
    }
}

/* Three threads queue; the first one locks again, at once or when one of them has the
 * lock, with a deadline. */
void queue_of_three(unsigned thread)
{
    if (thread == 0) {
        hold_until_arrived(3);
        if (choose(2))
            spin_until(load_relaxed(&served));
        enter_before_deadline();
    } else {
        arrive(thread);
        enter_visibly();
    }
}

/* Two threads queue with a deadline, and the first one locks again. */
void queue_of_leavers(unsigned thread)
{
    if (thread == 0) {
        hold_until_arrived(2);
        enter();
    } else {
        arrive(thread);
        enter_before_deadline();
    }
}

static void arrive_after(unsigned count)
{
    wait_for_arrivals(count);
    store_relaxed(&arrived, count + 1);
}

/* Two threads queue, and memory becomes scarce when the second one is about to. Both
 * may find none for their cohorts, or only the first one some. The second one acquires
 * the lock by this function. */
static void queue_without_memory(unsigned thread, void (*second)(void))
{
    if (thread == 0) {
        lock();
        wait_for_arrivals(1);
        store_relaxed(&side_pool.carved, POOL_CHUNKS * POOL_CHUNK);
        store_relaxed(&arrived, 2);
        wait_for_arrivals(3);
        section();
        unlock();
    } else if (thread == 1) {
        arrive(1);
        enter();
    } else {
        arrive_after(2);
        second();
    }
}

void scarce_memory(unsigned thread)
{
    queue_without_memory(thread, enter);
}

void scarce_memory_and_leaver(unsigned thread)
{
    queue_without_memory(thread, enter_before_deadline);
}

/* The second thread has to wait for the first one, upon which `auto` turns to cohorts.
 * It then holds the lock until the first and a third thread wait. After its release it
 * locks again: at once, behind the first thread, or when that one has the lock. */
static void take_turns(unsigned thread)
{
    if (thread == 0) {
        lock();
        store_relaxed(&arrived, 1);
        wait_for_arrivals(2);
        section();
        unlock();
        spin_until(load_relaxed(&served));
        store_relaxed(&arrived, 3);
        lock();
        store_relaxed(&served, 2);
        section();
        unlock();
    } else {
        arrive_after(1);
        lock();
        store_relaxed(&served, 1);
        wait_for_arrivals(4);
        section();
        unlock();
        if (!choose(2))
            spin_until(load_relaxed(&served) >= 2);
        enter();
    }
}

/* The third thread acquires the lock by this function. */
static void turns_and_third(unsigned thread, void (*third)(void))
{
    if (thread < 2) {
        take_turns(thread);
    } else {
        arrive_after(3);
        third();
    }
}

void two_cohorts(unsigned thread)
{
    turns_and_third(thread, enter);
}

void cohort_and_leaver(unsigned thread)
{
    turns_and_third(thread, enter_before_deadline);
}

/* The first thread leads its cohort and hands the lock to the third one, which is the
 * last of the series while the second one waits. The first one comes back before or
 * after the third one has released the lock. */
void series_of_cohort(unsigned thread)
{
    turns_and_third(thread, enter);
    if (thread == 2)
        store_relaxed(&served, 3);
    if (thread == 0) {
        if (!choose(2))
            spin_until(load_relaxed(&served) == 3);
        enter();
    }
}
