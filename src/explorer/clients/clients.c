/* SPDX-License-Identifier: MIT */
#include "explorer/clients/clients.h"

#include "explorer/clients/condition.h"
#include "explorer/clients/exclusive.h"
#include "explorer/clients/forks.h"
#include "explorer/clients/queues.h"
#include "explorer/clients/suitable.h"
#include "explorer/memory/lifetime.h"

#include <string.h>

static void with_trylock(unsigned thread)
{
    if (thread < 2) {
        enter();
    } else if (trylock()) {
        section();
        unlock();
    }
}

/* The lock must keep working whether or not the deadline has passed. */
static void with_timeout(unsigned thread)
{
    if (thread == 2)
        enter_after_deadline();
    else
        enter();
}

/* The first thread locks again while the second may still be waiting. */
static void timed_pair(unsigned thread)
{
    if (thread == 0) {
        enter();
        enter_before_deadline();
    } else {
        enter_after_deadline();
    }
}

static void two_timeouts(unsigned thread)
{
    if (thread == 0)
        enter();
    else
        enter_before_deadline();
}

/* The thread that was the last to enter destroys the lock, while the other one may
 * still be inside its unlock. */
static void last_destroys(unsigned thread)
{
    (void)thread;
    if (!enter_as_last())
        return;
    begin_operation();
    client_operations->destroy(&client_lock);
    lock_is_destroyed();
}

static void migration(unsigned thread)
{
    lock();
    move_to_node(choose(2));
    section();
    unlock();
    (void)thread;
}

/* Excludes glk, where a waiter may wait for the mode to change, and gcr, where
 * restricted threads wait outside the lock. */
static bool has_one_queue(const struct lock_descriptor *lock)
{
    return strcmp(lock->name, "glk") != 0 && strncmp(lock->name, "gcr+", 4) != 0;
}

/* A lock that is handed over with its word counts as held in a child. */
static bool frees_granted(const struct lock_descriptor *lock)
{
    return has_one_queue(lock) && !lock->hands_word;
}

/* Excludes locks that stay held in a child if a thread that vanished was handed them
 * within a cohort. */
static bool frees_passed(const struct lock_descriptor *lock)
{
    return frees_granted(lock) && !lock->numa;
}

/* Locks that turn to cohorts once a thread has had to wait. */
static bool chooses_cohorts(const struct lock_descriptor *lock)
{
    return strcmp(lock->name, "auto") == 0;
}

static bool has_cohorts(const struct lock_descriptor *lock)
{
    return is_numa(lock) || chooses_cohorts(lock);
}

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
     .summary = "two timed locks, the first one by a thread that has locked before",
     .threads = 2,
     .body = timed_pair,
     .finish = finish_free},
    {.name = "queue",
     .summary = "two threads queue, and the holder queues again after them",
     .threads = 3,
     .body = queue_of_two,
     .finish = finish_free},
    {.name = "leavers",
     .summary = "two threads queue that may time out, and the holder locks again",
     .threads = 3,
     .body = queue_of_leavers,
     .finish = finish_free},
    {.name = "long-queue",
     .summary = "three threads queue, and the holder queues again after them",
     .threads = 4,
     .body = queue_of_three,
     .finish = finish_free},
    {.name = "node-queue",
     .summary = "two threads of two NUMA nodes queue, and the holder locks again",
     .threads = 3,
     .suits = is_numa,
     .body = queue_of_two,
     .finish = finish_free,
     .nodes = {0, 1, 0, 0}},
    {.name = "long-node-queue",
     .summary = "three threads of two NUMA nodes queue, and the holder locks again",
     .threads = 4,
     .suits = is_numa,
     .body = queue_of_three,
     .finish = finish_free,
     .nodes = {0, 1, 0, 1}},
    {.name = "scarce",
     .summary = "two threads of two NUMA nodes queue, and memory becomes scarce",
     .threads = 3,
     .suits = has_cohorts,
     .body = scarce_memory,
     .finish = finish_free,
     .nodes = {0, 0, 1, 0}},
    {.name = "scarce-leaver",
     .summary = "the same, and the second thread may time out",
     .threads = 3,
     .suits = has_cohorts,
     .body = scarce_memory_and_leaver,
     .finish = finish_free,
     .nodes = {0, 0, 1, 0}},
    {.name = "cohorts",
     .summary = "one cohort hands over to another while a third thread comes back",
     .threads = 3,
     .suits = chooses_cohorts,
     .body = two_cohorts,
     .finish = finish_free,
     .nodes = {0, 0, 1, 0}},
    {.name = "cohort-leaver",
     .summary = "a cohort hands over to a timed lock while a third thread comes back",
     .threads = 3,
     .suits = chooses_cohorts,
     .body = cohort_and_leaver,
     .finish = finish_free,
     .nodes = {0, 0, 1, 0}},
    {.name = "cohort-series",
     .summary = "a cohort's series ends while a thread waits and another comes back",
     .threads = 3,
     .suits = chooses_cohorts,
     .body = series_of_cohort,
     .finish = finish_free},
    {.name = "last",
     .summary = "the last user destroys the lock while the other may be releasing it",
     .threads = 2,
     .body = last_destroys,
     .finish = finish_two_sections,
     .every_step = true,
     .alike = BIT(0) | BIT(1)},
    {.name = "condition",
     .summary = "the holder signals a condition variable; a third thread competes",
     .threads = 3,
     .body = condition_with_signal,
     .finish = finish_free},
    {.name = "late-signal",
     .summary = "a condition variable is signalled after unlocking; a third competes",
     .threads = 3,
     .body = condition_with_late_signal,
     .finish = finish_free},
    {.name = "broadcast",
     .summary = "two threads wait on a condition variable, and the holder broadcasts",
     .threads = 3,
     .body = condition_with_broadcast,
     .finish = finish_free,
     .alike = BIT(0) | BIT(1)},
    {.name = "leaver",
     .summary = "one of two waiters may leave the condition variable; one signal",
     .threads = 3,
     .body = condition_with_leaver,
     .finish = finish_free},
    {.name = "spurious",
     .summary = "three threads; each may wake up spuriously once",
     .threads = 3,
     .suits = parks,
     .body = exclusion,
     .finish = finish_free,
     .spurious_wakeups = 1,
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
     .summary = "the holder forks; two lockers vanish, and a new one starts",
     .threads = 4,
     .body = fork_while_held,
     .finish = finish_free,
     .child = 3,
     .every_step = true,
     .alike = BIT(1) | BIT(2)},
    {.name = "fork-grant",
     .summary = "the lock is handed to a thread that does not exist in the child",
     .threads = 4,
     .suits = frees_granted,
     .body = fork_after_grant,
     .finish = finish_free,
     .nodes = {0, 0, 1, 0},
     .child = 3,
     .every_step = true},
    {.name = "fork-pass",
     .summary = "the same by a thread to which the lock had been handed, too",
     .threads = 4,
     .suits = frees_passed,
     .body = fork_after_grant_by_waiter,
     .finish = finish_free,
     .child = 3,
     .every_step = true},
};
const unsigned client_count = sizeof clients / sizeof clients[0];
