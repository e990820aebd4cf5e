/* SPDX-License-Identifier: MIT */
/*
 * Clients of elided mutexes. The sections add to two cells that are equal outside
 * them. The cells are relaxed: if a transaction committed while another thread holds
 * the lock, one of the two sections would see different values, or lose an addition.
 */
#include "elision/elide.h"
#include "elision/list.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/condition.h"
#include "explorer/clients/critical_sections.h"
#include "explorer/clients/suitable.h"

static struct atomic_u32 first, second;

static void add(void)
{
    uint32_t seen = load_relaxed(&first);
    store_relaxed(&first, seen + 1);
    expect(load_relaxed(&second) == seen, "two sections ran at the same time");
    store_relaxed(&second, seen + 1);
}

static void enter_elided(void)
{
    lock();
    add();
    unlock();
}

static void finish(uint32_t entered)
{
    expect(load_relaxed(&first) == entered, "a section was lost");
    expect(load_relaxed(&second) == entered, "a section was lost");
    expect(load_relaxed(&client_lock.word) == 0, "the lock is still held");
    begin_operation();
    client_operations->destroy(&client_lock);
}

static void finish_two(void)
{
    finish(2);
}

static void finish_three(void)
{
    finish(3);
}

static void twice(unsigned thread)
{
    enter_elided();
    if (thread == 0)
        enter_elided();
}

static void once(unsigned thread)
{
    (void)thread;
    enter_elided();
}

static struct atomic_u32 entered;

static void with_trylock(unsigned thread)
{
    if (thread == 0) {
        if (!trylock())
            return;
        add();
        unlock();
    } else {
        enter_elided();
    }
    fetch_add_relaxed(&entered, 1);
}

static void finish_entered(void)
{
    finish(load_relaxed(&entered));
}

/* The first thread unlocks the mutex while it is free. */
static void unlock_free(unsigned thread)
{
    if (thread == 0) {
        unlock();
        store_release(&flag, 1);
    } else {
        spin_until(load_acquire(&flag));
    }
    enter_elided();
}

/* The trylock of a lock that the thread elides fails, as that of a held one. */
static void own_trylock(unsigned thread)
{
    (void)thread;
    lock();
    expect(!trylock(), "a thread locks its own mutex twice");
    add();
    unlock();
}

/* A wait for a condition variable in a section, as the interposer has it. */
static void with_condition(unsigned thread)
{
    if (thread == 0) {
        lock();
        while (!load_relaxed(&served)) {
            elision_leave(ELISION_WAIT);
            condition_client_waits();
        }
        add();
        unlock();
    } else if (thread == 1) {
        lock();
        store_relaxed(&served, 1);
        add();
        elision_leave(ELISION_WAIT);
        condition_client_signals(true);
        unlock();
    } else {
        enter_elided();
    }
}

const struct client elision_clients[] = {
    {.name = "elided",
     .summary = "two sections, each elided or not, of two threads",
     .threads = 2,
     .body = once,
     .finish = finish_two,
     .alike = BIT(0) | BIT(1)},
    {.name = "elided-twice",
     .summary = "two threads lock and unlock, the first one twice",
     .threads = 2,
     .body = twice,
     .finish = finish_three},
    {.name = "elided-three",
     .summary = "three threads lock and unlock",
     .threads = 3,
     .body = once,
     .finish = finish_three,
     .alike = BIT(0) | BIT(1) | BIT(2)},
    {.name = "elided-free",
     .summary = "a free mutex is unlocked, then two threads lock",
     .threads = 2,
     .body = unlock_free,
     .finish = finish_two},
    {.name = "elided-trylock",
     .summary = "a trylock beside a lock",
     .threads = 2,
     .body = with_trylock,
     .finish = finish_entered},
    {.name = "elided-own",
     .summary = "two threads lock, and try to lock again",
     .threads = 2,
     .body = own_trylock,
     .finish = finish_two,
     .alike = BIT(0) | BIT(1)},
    {.name = "elided-condition",
     .summary = "a section waits for a condition, another signals; a third competes",
     .threads = 3,
     .body = with_condition,
     .finish = finish_three},
};
const unsigned elision_client_count =
    sizeof elision_clients / sizeof elision_clients[0];
