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
/* Relaxed: they say when, and order nothing. */
static struct atomic_u32 arrived, served;

const char *client_variable(const void *address);
const char *client_variable(const void *address)
{
    return address == &inside     ? "inside"
           : address == &sections ? "sections"
           : address == &flag     ? "flag"
           : address == &sleeper  ? "sleeper"
           : address == &arrived  ? "arrived"
           : address == &served   ? "served"
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

static void take_turn_if_in_time(void)
{
    if (!timedlock())
        return;
    section();
    unlock();
}

static void take_turn_in_the_end(void)
{
    if (!timedlock())
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

/* Threads after the first arrive one by one while it has the lock: the queue is there
 * without a preemption that the search would have to find. */
static void wait_for_arrivals(unsigned count)
{
    spin_until(load_relaxed(&arrived) == count);
}

static void arrive(unsigned thread)
{
    wait_for_arrivals(thread - 1);
    store_relaxed(&arrived, thread);
}

static void serve(void)
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

/* Two queue behind the first, which comes back when the next has the lock. */
static void queue_of_two(unsigned thread)
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
static void queue_of_three(unsigned thread)
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
static void queue_of_leavers(unsigned thread)
{
    if (thread == 0) {
        hold_until_arrived(2);
        take_turn();
    } else {
        arrive(thread);
        take_turn_if_in_time();
    }
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
    operations->destroy(&client_lock);
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

/* A slot of the pool on a condition variable once more, this thread's or another's:
 * nobody may be at work on it any more. */
static void use_again(void)
{
    struct waiter *next = waiter_take();
    next->epoch += 1u << 8;
    waiter_give(next);
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
        use_again();
        if (state == WAITER_REQUEUED)
            operations->relock(&client_lock);
        else
            operations->lock(&client_lock);
    }
    section();
    unlock();
    use_again();
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
     0,
     false},
    {"exclusion",
     "three threads lock and unlock, the first one twice",
     3,
     NULL,
     exclusion,
     finish_exclusion,
     {0},
     0,
     0,
     false},
    {"trylock",
     "a trylock among two lockers",
     3,
     NULL,
     with_trylock,
     finish,
     {0},
     0,
     0,
     false},
    {"timeout",
     "a timed lock among two lockers, and a lock after its failure",
     3,
     NULL,
     with_timeout,
     finish,
     {0},
     0,
     0,
     false},
    {"timeouts",
     "two timed locks and a locker",
     3,
     NULL,
     two_timeouts,
     finish,
     {0},
     0,
     0,
     false},
    {"another",
     "unlocked by another thread while a third waits",
     3,
     NULL,
     unlock_by_another,
     finish,
     {0},
     0,
     0,
     false},
    {"timed",
     "two timed locks, the first one by a thread that comes back",
     2,
     NULL,
     timed_pair,
     finish,
     {0},
     0,
     0,
     false},
    {"queue",
     "two threads queue, and the holder comes back behind them",
     3,
     NULL,
     queue_of_two,
     finish,
     {0},
     0,
     0,
     false},
    {"leavers",
     "two threads queue that may give up, and the holder comes back",
     3,
     NULL,
     queue_of_leavers,
     finish,
     {0},
     0,
     0,
     false},
    {"long-queue",
     "three threads queue, and the holder comes back behind them",
     4,
     NULL,
     queue_of_three,
     finish,
     {0},
     0,
     0,
     false},
    {"node-queue",
     "two threads of two NUMA nodes queue, and the holder comes back",
     3,
     is_numa,
     queue_of_two,
     finish,
     {0, 1, 0, 0},
     0,
     0,
     false},
    {"long-node-queue",
     "three threads of two NUMA nodes queue, and the holder comes back",
     4,
     is_numa,
     queue_of_three,
     finish,
     {0, 1, 0, 1},
     0,
     0,
     false},
    {"last",
     "the last user destroys the lock, whoever has just released it",
     2,
     NULL,
     last_destroys,
     finish_nothing,
     {0},
     0,
     0,
     true},
    {"condition",
     "the holder hands a condvar's waiter to the lock; a third competes",
     3,
     NULL,
     condition,
     finish,
     {0},
     0,
     0,
     false},
    {"spurious",
     "three threads, each of which may wake up once for no reason",
     3,
     parks,
     exclusion,
     finish,
     {0},
     1,
     0,
     false},
    {"nodes",
     "three threads on two NUMA nodes, the first one locks twice",
     3,
     is_numa,
     exclusion,
     finish,
     {0, 1, 0, 0},
     0,
     0,
     false},
    {"migration",
     "three threads on two NUMA nodes that move while they hold the lock",
     3,
     is_numa,
     migration,
     finish,
     {0, 1, 0, 0},
     0,
     0,
     false},
    {"fork",
     "the holder forks among two lockers, who vanish; a new one comes",
     4,
     NULL,
     fork_while_held,
     finish,
     {0},
     0,
     3,
     true},
};
const unsigned client_count = sizeof clients / sizeof clients[0];
