/* SPDX-License-Identifier: MIT */
/*
 * Clients of global mode (elision/global.h): one lock, elided or not, for two mutexes,
 * until a thread that waits ends the mode. It may wait too long at any time, so the
 * search explores the end of the mode at every step of the clients.
 *
 * Each mutex guards two cells that are equal outside its sections, which is all that
 * holds after the end of the mode. The cells are relaxed: if two sections overlapped,
 * one of them would see different values, or lose an addition.
 */
#include "elision/elide.h"
#include "elision/global.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/condition.h"
#include "explorer/clients/critical_sections.h"
#include "explorer/clients/suitable.h"

#include <string.h>

enum { MUTEXES = 2 };

static struct lock other;
static struct atomic_u32 first[MUTEXES], second[MUTEXES], entered[MUTEXES];

static struct lock *mutex_of(unsigned mutex)
{
    return mutex == 0 ? &client_lock : &other;
}

/* Each operation may time out anew. */
static void begin_with_deadline(void)
{
    begin_operation();
    (void)new_deadline();
}

static void take(unsigned mutex)
{
    begin_with_deadline();
    client_operations->lock(mutex_of(mutex));
}

static bool try_to_take(unsigned mutex)
{
    begin_with_deadline();
    return client_operations->trylock(mutex_of(mutex));
}

static void give(unsigned mutex)
{
    begin_with_deadline();
    client_operations->unlock(mutex_of(mutex));
}

static void add(unsigned mutex)
{
    uint32_t seen = load_relaxed(&first[mutex]);
    store_relaxed(&first[mutex], seen + 1);
    expect(load_relaxed(&second[mutex]) == seen, "two sections ran at the same time");
    store_relaxed(&second[mutex], seen + 1);
}

/* The rest of a section whose mutex is held. */
static void finish(unsigned mutex)
{
    add(mutex);
    give(mutex);
    fetch_add_relaxed(&entered[mutex], 1);
}

static void enter_one(unsigned mutex)
{
    take(mutex);
    finish(mutex);
}

static void enter_both(void)
{
    take(0);
    take(1);
    finish(1);
    finish(0);
}

/* No section was lost, and every mutex is free and works. */
static void finish_mutexes(void)
{
    for (unsigned mutex = 0; mutex < MUTEXES; mutex++) {
        const uint32_t sections_of_it = load_relaxed(&entered[mutex]);
        expect(load_relaxed(&first[mutex]) == sections_of_it, "a section was lost");
        expect(load_relaxed(&second[mutex]) == sections_of_it, "a section was lost");
        expect(try_to_take(mutex), "trylock fails on a free mutex in the end");
        give(mutex);
    }
}

static void one_mutex(unsigned thread)
{
    (void)thread;
    enter_one(0);
}

static void two_mutexes(unsigned thread)
{
    enter_one(thread);
    enter_one(1 - thread);
}

static void nested(unsigned thread)
{
    if (thread == 0)
        enter_both();
    else
        enter_one(1);
}

static void three_threads(unsigned thread)
{
    if (thread == 0)
        enter_both();
    else
        enter_one(thread - 1);
}

/* Releases in the order of the acquisitions. */
static void chained(unsigned thread)
{
    if (thread == 1) {
        enter_one(0);
        return;
    }
    take(0);
    add(0);
    take(1);
    give(0);
    add(1);
    give(1);
    fetch_add_relaxed(&entered[0], 1);
    fetch_add_relaxed(&entered[1], 1);
}

static void with_trylock(unsigned thread)
{
    if (thread == 1) {
        enter_both();
    } else if (try_to_take(1)) {
        finish(1);
    }
}

static void with_trylock_inside(unsigned thread)
{
    if (thread == 1) {
        enter_one(1);
        return;
    }
    take(0);
    if (try_to_take(1))
        finish(1);
    finish(0);
}

static void with_deadline(unsigned thread)
{
    if (thread == 1) {
        enter_both();
        return;
    }
    begin_operation();
    if (!client_operations->timedlock(mutex_of(1), new_deadline()))
        return;
    finish(1);
}

/* The first thread's section waits for one of the other mutex: only the end of the mode
 * lets it go on. */
static void communicating(unsigned thread)
{
    if (thread == 0) {
        take(0);
        elision_leave(ELISION_WAIT); /* no transaction waits for another thread */
        store_release(&flag, 1);
        spin_until(load_acquire(&served));
        finish(0);
    } else {
        spin_until(load_acquire(&flag));
        enter_one(1);
        store_release(&served, 1);
    }
}

static void unlocked_by_another(unsigned thread)
{
    if (thread == 0) {
        take(0);
        elision_leave(ELISION_WAIT); /* the other thread sees it held */
        add(0);
        fetch_add_relaxed(&entered[0], 1);
        store_release(&flag, 1);
        enter_one(1);
        spin_until(load_acquire(&served));
    } else {
        spin_until(load_acquire(&flag));
        give(0);
        store_release(&served, 1);
        enter_one(0);
    }
}

/* The usual protocol, of mutex 0, which is the one that the condition variable is for.
 */
static void wait_until_ready(void)
{
    take(0);
    while (!load_relaxed(&served))
        condition_client_waits();
    finish(0);
}

static void make_ready(void)
{
    const bool holds = choose(2);
    take(0);
    store_relaxed(&served, 1);
    if (holds) {
        elision_leave(ELISION_WAIT); /* the interposer hands the lock over */
        condition_client_signals(true);
    }
    give(0);
    begin_with_deadline();
    if (!holds)
        condition_client_signals(false);
}

static void with_condition(unsigned thread)
{
    if (thread == 0)
        wait_until_ready();
    else if (thread == 1)
        make_ready();
    else
        enter_one(0);
}

static void with_two_waiters(unsigned thread)
{
    if (thread < 2) {
        wait_until_ready();
    } else {
        make_ready();
        begin_with_deadline();
        condition_client_signals(false);
    }
}

/* Waits with the other mutex held: only the end of the mode lets the signal come. */
static void with_condition_inside(unsigned thread)
{
    if (thread == 0) {
        take(1);
        wait_until_ready();
        finish(1);
    } else {
        make_ready();
        enter_one(1);
    }
}

const struct client global_clients[] = {
    {.name = "global-one",
     .summary = "two threads lock and unlock one mutex",
     .threads = 2,
     .body = one_mutex,
     .finish = finish_mutexes,
     .alike = BIT(0) | BIT(1)},
    {.name = "global-two",
     .summary = "two threads lock two mutexes, one after the other",
     .threads = 2,
     .body = two_mutexes,
     .finish = finish_mutexes},
    {.name = "global-nested",
     .summary = "one thread locks two mutexes at once, another one the inner one",
     .threads = 2,
     .body = nested,
     .finish = finish_mutexes},
    {.name = "global-chained",
     .summary = "the same, released in the order of the acquisitions",
     .threads = 2,
     .body = chained,
     .finish = finish_mutexes},
    {.name = "global-three",
     .summary = "one thread locks two mutexes at once, two others one each",
     .threads = 3,
     .body = three_threads,
     .finish = finish_mutexes},
    {.name = "global-trylock",
     .summary = "a trylock beside a thread that locks two mutexes",
     .threads = 2,
     .body = with_trylock,
     .finish = finish_mutexes},
    {.name = "global-trylock-inside",
     .summary = "a trylock with another mutex held",
     .threads = 2,
     .body = with_trylock_inside,
     .finish = finish_mutexes},
    {.name = "global-timed",
     .summary = "a timed lock beside a thread that locks two mutexes",
     .threads = 2,
     .body = with_deadline,
     .finish = finish_mutexes},
    {.name = "global-communicating",
     .summary = "a section waits for one of another mutex",
     .threads = 2,
     .body = communicating,
     .finish = finish_mutexes},
    {.name = "global-another",
     .summary = "a mutex is unlocked by another thread than its holder",
     .threads = 2,
     .body = unlocked_by_another,
     .finish = finish_mutexes},
    {.name = "global-condition",
     .summary = "a condition variable is signalled; a third thread competes",
     .threads = 3,
     .body = with_condition,
     .finish = finish_mutexes},
    {.name = "global-two-waiters",
     .summary = "two threads wait for a condition, which is signalled twice",
     .threads = 3,
     .body = with_two_waiters,
     .finish = finish_mutexes,
     .alike = BIT(0) | BIT(1)},
    {.name = "global-condition-inside",
     .summary = "a thread waits for a condition with another mutex held",
     .threads = 2,
     .body = with_condition_inside,
     .finish = finish_mutexes},
};
const unsigned global_client_count = sizeof global_clients / sizeof global_clients[0];

/* The one lock: acquired by an operation on its word, or by a queue; and elided. */
static const struct variant {
    const char *name, *algorithm;
    bool elides;
} variants[] = {
    {"", "", false},
    {"global+futex", "futex", false},
    {"global+mcs", "mcs", false},
    {"elide-global+futex", "futex", true},
    {"elide-global+mcs", "mcs", true},
};
const unsigned global_variants = sizeof variants / sizeof variants[0];

int global_variant_find(const char *name)
{
    for (unsigned i = 1; i < global_variants; i++)
        if (strcmp(name, variants[i].name) == 0)
            return (int)i;
    return -1;
}

static void before_wait(void)
{
    elision_leave(ELISION_WAIT);
}

struct lock_descriptor global_client_uses(unsigned variant)
{
    const unsigned index = (unsigned)lock_find(variants[variant].algorithm);
    struct lock_descriptor about = lock_at(index);
    global_prepare(lock_operations_at(index), about.name, variants[variant].elides);
    about.name = variants[variant].name;
    about.operations = global_operations;
    condition_client_prepares = before_wait;
    return about;
}
