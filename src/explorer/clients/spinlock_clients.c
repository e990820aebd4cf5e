/* SPDX-License-Identifier: MIT */
/* Clients of spin locks. They reach the lock through operations of a mutex, so that
 * they share their critical sections with the clients of mutexes. */
#include "explorer/clients/clients.h"
#include "explorer/clients/exclusive.h"
#include "explorer/clients/forks.h"
#include "explorer/clients/suitable.h"
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

static void with_trylocks(unsigned thread)
{
    if (thread == 0) {
        enter();
    } else if (trylock()) {
        section();
        unlock();
    }
}

static void last_unmaps(unsigned thread)
{
    (void)thread;
    if (enter_as_last())
        lock_is_destroyed();
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
     .alike = BIT(1) | BIT(2)},
    {.name = "trylock",
     .summary = "two trylocks beside a locker",
     .threads = 3,
     .body = with_trylocks,
     .finish = finish_free,
     .alike = BIT(1) | BIT(2)},
    {.name = "another",
     .summary = "unlocked by another thread while a third waits",
     .threads = 3,
     .body = unlock_by_another,
     .finish = finish_free},
    {.name = "last",
     .summary = "the last user unmaps the lock while the other may be releasing it",
     .threads = 2,
     .body = last_unmaps,
     .finish = finish_two_sections,
     .every_step = true,
     .alike = BIT(0) | BIT(1)},
    {.name = "spurious",
     .summary = "three threads; each may wake up spuriously once",
     .threads = 3,
     .suits = parks,
     .body = exclusion,
     .finish = finish_free,
     .spurious_wakeups = 1,
     .alike = BIT(1) | BIT(2)},
    {.name = "fork",
     .summary = "the holder forks; two lockers vanish, and a new one starts",
     .threads = 4,
     .body = fork_while_held,
     .finish = finish_free,
     .child = 3,
     .every_step = true,
     .alike = BIT(1) | BIT(2)},
};
const unsigned spinlock_client_count =
    sizeof spinlock_clients / sizeof spinlock_clients[0];
