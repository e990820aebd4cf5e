/* SPDX-License-Identifier: MIT */
/* Clients of spin locks. They reach the lock through operations of a mutex, so that
 * they share their critical sections with the clients of mutexes. */
#include "explorer/clients/clients.h"
#include "explorer/clients/critical_sections.h"
#include "explorer/memory/lifetime.h"

#include "spinlocks/list/descriptor.h"

#include <string.h>

static const struct spinlock_operations *operations;

static int lock_spinlock(struct lock *lock)
{
    (void)lock;
    return operations->lock(&client_spinlock);
}

static bool try_spinlock(struct lock *lock)
{
    (void)lock;
    return operations->trylock(&client_spinlock) == 0;
}

static int unlock_spinlock(struct lock *lock)
{
    (void)lock;
    return operations->unlock(&client_spinlock);
}

static void destroy_spinlock(struct lock *lock)
{
    (void)lock;
}

static const struct lock_operations adapted = {.lock = lock_spinlock,
                                               .trylock = try_spinlock,
                                               .unlock = unlock_spinlock,
                                               .destroy = destroy_spinlock};

void spinlock_client_uses(unsigned index)
{
    operations = &spinlock_list[index].operations;
    client_operations = &adapted;
    client_spinlock.word.raw = SPINLOCK_FREE;
    if (strcmp(spinlock_list[index].about.name, "ticket") == 0) {
        client_spinlock.serving.raw = TICKET_TAG; /* as initialised as private */
        client_spinlock.next.raw = 1;             /* the first fork generation */
    }
}

static void exclusion(unsigned thread)
{
    enter();
    if (thread == 0)
        enter();
}

static void finish_exclusion(void)
{
    expect(sections == 4, "a critical section was lost");
    finish_free();
}

static void with_trylocks(unsigned thread)
{
    if (thread == 0) {
        enter();
    } else if (trylock()) {
        section();
        unlock();
    }
}

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
        enter();
    }
}

static void last_unmaps(unsigned thread)
{
    (void)thread;
    lock();
    section();
    bool last = sections == 2;
    unlock();
    if (last)
        lock_is_destroyed();
}

static void finish_nothing(void)
{
    expect(sections == 2, "a critical section was lost");
}

/* The holder forks; the child's thread 3 starts in the child. */
static void fork_while_held(unsigned thread)
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

static bool parks(const struct lock_descriptor *lock)
{
    return lock->parks;
}

const struct client spinlock_clients[] = {
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
     .alike = 1 << 1 | 1 << 2},
    {.name = "trylock",
     .summary = "two trylocks beside a locker",
     .threads = 3,
     .body = with_trylocks,
     .finish = finish_free,
     .alike = 1 << 1 | 1 << 2},
    {.name = "another",
     .summary = "unlocked by another thread while a third waits",
     .threads = 3,
     .body = unlock_by_another,
     .finish = finish_free},
    {.name = "last",
     .summary = "the last user unmaps the lock while the other may be releasing it",
     .threads = 2,
     .body = last_unmaps,
     .finish = finish_nothing,
     .every_step = true,
     .alike = 1 << 0 | 1 << 1},
    {.name = "spurious",
     .summary = "three threads; each may wake up spuriously once",
     .threads = 3,
     .suits = parks,
     .body = exclusion,
     .finish = finish_free,
     .spurious_wakeups = 1,
     .alike = 1 << 1 | 1 << 2},
    {.name = "fork",
     .summary = "the holder forks; two lockers vanish, and a new one starts",
     .threads = 4,
     .body = fork_while_held,
     .finish = finish_free,
     .child = 3,
     .every_step = true,
     .alike = 1 << 1 | 1 << 2},
};
const unsigned spinlock_client_count =
    sizeof spinlock_clients / sizeof spinlock_clients[0];
