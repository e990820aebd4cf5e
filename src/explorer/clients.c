/* SPDX-License-Identifier: MIT */
#include "explorer/clients.h"

#include "locks/waiting.h"

#define operations client_operations

struct lock client_lock;
const struct lock_operations *client_operations;

/* What the lock guards: the compiler reports every access, and the explorer finds the
 * unordered ones. */
static uint32_t inside, sections;
static struct atomic_u32 flag;
static struct waiter *sleeper;

const char *client_variable(const void *address);
const char *client_variable(const void *address)
{
    return address == &inside     ? "inside"
           : address == &sections ? "sections"
           : address == &flag     ? "flag"
           : address == &sleeper  ? "sleeper"
                                  : NULL;
}

static void section(void)
{
    expect(inside == 0, "two threads are in the critical section");
    inside = 1;
    sections++;
    inside = 0;
}

static void lock(void)
{
    begin_operation();
    operations->lock(&client_lock);
}

static bool trylock(void)
{
    begin_operation();
    return operations->trylock(&client_lock);
}

static bool timedlock(void)
{
    begin_operation();
    return operations->timedlock(&client_lock, new_deadline());
}

static void unlock(void)
{
    begin_operation();
    operations->unlock(&client_lock);
}

static void take_turn(void)
{
    lock();
    section();
    unlock();
}

/* Whatever was done to it, it has to be as good as new in the end. */
static void finish(void)
{
    expect(trylock(), "trylock fails on the free lock in the end");
    section();
    unlock();
    begin_operation();
    operations->destroy(&client_lock);
}

static void exclusion(unsigned thread)
{
    take_turn();
    if (thread == 0)
        take_turn();
}

static void finish_exclusion(void)
{
    expect(sections == 4, "a critical section was lost");
    finish();
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
    if (thread == 2) {
        if (!timedlock())
            lock();
        section();
        unlock();
    } else {
        take_turn();
    }
}

static void two_timeouts(unsigned thread)
{
    if (thread == 0) {
        take_turn();
    } else if (timedlock()) {
        section();
        unlock();
    }
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

static uint32_t waiting_cell(const struct waiter *waiter)
{
    return WAITER_IN_CONDITION | waiter->epoch;
}

/* As src/preload/condition.c does it, with the queue in `sleeper`. */
static void wait_on_condition(void)
{
    lock();
    struct waiter *waiter = waiter_take();
    waiter->lock = &client_lock;
    waiter->epoch += 1u << 8;
    const uint32_t cell = waiting_cell(waiter);
    store_relaxed(&waiter->cell, cell);
    sleeper = waiter;
    store_release(&flag, 1);
    unlock();
    begin_operation();
    store_relaxed(&waiter->asleep, 1);
    do
        park(&waiter->cell, cell, NULL);
    while (load_acquire(&waiter->cell) == cell);
    uint32_t state = load_acquire(&waiter->cell) & 0xff;
    if (state != WAITER_WOKEN && state != WAITER_REQUEUED) {
        wait_for_turn(&waiter->cell, &waiter->asleep, SPIN_THEN_PARK, false, NULL);
        operations->adopted(&client_lock, waiter);
    } else {
        waiter_give(waiter);
        if (state == WAITER_REQUEUED)
            operations->relock(&client_lock);
        else
            operations->lock(&client_lock);
    }
    section();
    unlock();
    /* The waiter's next user: nobody may be at work on it any more. */
    struct waiter *next = waiter_take();
    next->epoch += 1u << 8;
    waiter_give(next);
}

static void signal_condition(void)
{
    spin_until(load_acquire(&flag));
    lock();
    struct waiter *waiter = sleeper;
    if (operations->adopt)
        operations->adopt(&client_lock, waiter);
    else if (end_condition_stay(waiter, WAITER_WOKEN))
        unpark(&waiter->cell, 1);
    section();
    unlock();
}

static void condition(unsigned thread)
{
    if (thread == 0)
        wait_on_condition();
    else if (thread == 1)
        signal_condition();
    else
        take_turn();
}

static void migration(unsigned thread)
{
    lock();
    move_to_node(choose(2));
    section();
    unlock();
    (void)thread;
}

/* The holder forks while two others are under way; in the child a new thread comes. */
static void fork_while_held(unsigned thread)
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

static bool parks(const struct lock_descriptor *lock)
{
    return lock->parks;
}

static bool is_numa(const struct lock_descriptor *lock)
{
    return lock->numa;
}

const struct client clients[] = {
    {"pair",
     "two threads lock and unlock, the first one twice",
     2,
     NULL,
     exclusion,
     finish,
     {0},
     0,
     0},
    {"exclusion",
     "three threads lock and unlock, the first one twice",
     3,
     NULL,
     exclusion,
     finish_exclusion,
     {0},
     0,
     0},
    {"trylock",
     "a trylock among two lockers",
     3,
     NULL,
     with_trylock,
     finish,
     {0},
     0,
     0},
    {"timeout",
     "a timed lock among two lockers, and a lock after its failure",
     3,
     NULL,
     with_timeout,
     finish,
     {0},
     0,
     0},
    {"timeouts",
     "two timed locks and a locker",
     3,
     NULL,
     two_timeouts,
     finish,
     {0},
     0,
     0},
    {"another",
     "unlocked by another thread while a third waits",
     3,
     NULL,
     unlock_by_another,
     finish,
     {0},
     0,
     0},
    {"condition",
     "the holder hands a condvar's waiter to the lock; a third competes",
     3,
     NULL,
     condition,
     finish,
     {0},
     0,
     0},
    {"spurious",
     "three threads, each of which may wake up once for no reason",
     3,
     parks,
     exclusion,
     finish,
     {0},
     1,
     0},
    {"nodes",
     "three threads on two NUMA nodes, the first one locks twice",
     3,
     is_numa,
     exclusion,
     finish,
     {0, 1, 0, 0},
     0,
     0},
    {"migration",
     "three threads on two NUMA nodes that move while they hold the lock",
     3,
     is_numa,
     migration,
     finish,
     {0, 1, 0, 0},
     0,
     0},
    {"fork",
     "the holder forks among two lockers, who vanish; a new one comes",
     4,
     NULL,
     fork_while_held,
     finish,
     {0},
     0,
     3},
};
const unsigned client_count = sizeof clients / sizeof clients[0];
