/* SPDX-License-Identifier: MIT */
#include "explorer/turns.h"

#include <string.h>

static void exclusion(unsigned thread)
{
    take_turn();
    if (thread == 0)
        take_turn();
}

static void finish_exclusion(void)
{
    expect(sections == 4, "a critical section was lost");
    finish_free();
}

static void with_trylock(unsigned thread)
{
    if (thread < 2) {
        take_turn();
    } else if (trylock()) {
        section();
        unlock();
    }
}

/* Whether the deadline struck or not, the lock goes on working. */
static void with_timeout(unsigned thread)
{
    if (thread == 2)
        take_turn_in_the_end();
    else
        take_turn();
}

/* The first thread comes back while the second may still be about to take its turn. */
static void timed_pair(unsigned thread)
{
    if (thread == 0) {
        take_turn();
        take_turn_if_in_time();
    } else {
        take_turn_in_the_end();
    }
}

static void two_timeouts(unsigned thread)
{
    if (thread == 0)
        take_turn();
    else
        take_turn_if_in_time();
}

/* Whoever finds that it is the last user destroys the lock, when the other one may
 * still be about to return from its unlock. */
static void last_destroys(unsigned thread)
{
    (void)thread;
    lock();
    section();
    bool last = sections == 2;
    unlock();
    if (!last)
        return;
    begin_operation();
    client_operations->destroy(&client_lock);
    lock_is_gone();
}

static void finish_nothing(void)
{
    expect(sections == 2, "a critical section was lost");
}

/* The first thread locks, the second unlocks in its stead, the third wants it, too. */
static void unlock_by_another(unsigned thread)
{
    if (thread == 0) {
        lock();
        section();
        store_release(&flag, 1);
    } else if (thread == 1) {
        spin_until(load_acquire(&flag));
        section();
        unlock();
    } else {
        take_turn();
    }
}

static void migration(unsigned thread)
{
    lock();
    move_to_node(choose(2));
    section();
    unlock();
    (void)thread;
}

static bool parks(const struct lock_descriptor *lock)
{
    return lock->parks;
}

/* Two who wait for one grant queue in one place. In glk one may wait for the mode to
 * change; restricted threads wait in front of the lock. */
static bool queues_in_one_place(const struct lock_descriptor *lock)
{
    return strcmp(lock->name, "glk") != 0 && strncmp(lock->name, "gcr+", 4) != 0;
}

static bool is_numa(const struct lock_descriptor *lock)
{
    return lock->numa;
}

#define BIT(thread) (1 << (thread))

const struct client clients[] = {
    {.name = "pair",
     .summary = "two threads lock and unlock, the first one twice",
     .threads = 2,
     .body = exclusion,
     .finish = finish_free},
    {.name = "exclusion",
     .summary = "three threads lock and unlock, the first one twice",
     .threads = 3,
     .body = exclusion,
     .finish = finish_exclusion,
     .alike = BIT(1) | BIT(2)},
    {.name = "trylock",
     .summary = "a trylock among two lockers",
     .threads = 3,
     .body = with_trylock,
     .finish = finish_free,
     .alike = BIT(0) | BIT(1)},
    {.name = "timeout",
     .summary = "a timed lock among two lockers, and a lock after its failure",
     .threads = 3,
     .body = with_timeout,
     .finish = finish_free,
     .alike = BIT(0) | BIT(1)},
    {.name = "timeouts",
     .summary = "two timed locks and a locker",
     .threads = 3,
     .body = two_timeouts,
     .finish = finish_free,
     .alike = BIT(1) | BIT(2)},
    {.name = "another",
     .summary = "unlocked by another thread while a third waits",
     .threads = 3,
     .body = unlock_by_another,
     .finish = finish_free},
    {.name = "timed",
     .summary = "two timed locks, the first one by a thread that comes back",
     .threads = 2,
     .body = timed_pair,
     .finish = finish_free},
    {.name = "queue",
     .summary = "two threads queue, and the holder comes back behind them",
     .threads = 3,
     .body = queue_of_two,
     .finish = finish_free},
    {.name = "leavers",
     .summary = "two threads queue that may give up, and the holder comes back",
     .threads = 3,
     .body = queue_of_leavers,
     .finish = finish_free},
    {.name = "long-queue",
     .summary = "three threads queue, and the holder comes back behind them",
     .threads = 4,
     .body = queue_of_three,
     .finish = finish_free},
    {.name = "node-queue",
     .summary = "two threads of two NUMA nodes queue, and the holder comes back",
     .threads = 3,
     .suits = is_numa,
     .body = queue_of_two,
     .finish = finish_free,
     .nodes = {0, 1, 0, 0}},
    {.name = "long-node-queue",
     .summary = "three threads of two NUMA nodes queue, and the holder comes back",
     .threads = 4,
     .suits = is_numa,
     .body = queue_of_three,
     .finish = finish_free,
     .nodes = {0, 1, 0, 1}},
    {.name = "last",
     .summary = "the last user destroys the lock, whoever has just released it",
     .threads = 2,
     .body = last_destroys,
     .finish = finish_nothing,
     .every_step = true,
     .alike = BIT(0) | BIT(1)},
    {.name = "condition",
     .summary = "the holder hands a condvar's waiter to the lock; a third competes",
     .threads = 3,
     .body = condition,
     .finish = finish_free},
    {.name = "spurious",
     .summary = "three threads, each of which may wake up once for no reason",
     .threads = 3,
     .suits = parks,
     .body = exclusion,
     .finish = finish_free,
     .naps = 1,
     .alike = BIT(1) | BIT(2)},
    {.name = "nodes",
     .summary = "three threads on two NUMA nodes, the first one locks twice",
     .threads = 3,
     .suits = is_numa,
     .body = exclusion,
     .finish = finish_free,
     .nodes = {0, 1, 0, 0}},
    {.name = "migration",
     .summary = "three threads on two NUMA nodes that move while they hold the lock",
     .threads = 3,
     .suits = is_numa,
     .body = migration,
     .finish = finish_free,
     .nodes = {0, 1, 0, 0},
     .alike = BIT(0) | BIT(2)},
    {.name = "fork",
     .summary = "the holder forks among two lockers, who vanish; a new one comes",
     .threads = 4,
     .body = fork_while_held,
     .finish = finish_free,
     .child = 3,
     .every_step = true,
     .alike = BIT(1) | BIT(2)},
    {.name = "fork-grant",
     .summary = "the lock is granted to a thread that a fork leaves behind",
     .threads = 4,
     .suits = queues_in_one_place,
     .body = fork_after_grant,
     .finish = finish_free,
     .nodes = {0, 0, 1, 0},
     .child = 3,
     .every_step = true},
};
const unsigned client_count = sizeof clients / sizeof clients[0];
