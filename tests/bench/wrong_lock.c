/* SPDX-License-Identifier: MIT */
/* Replaces the lock list by a single lock without mutual exclusion. */
#include "locks/list/descriptor.h"
#include "rwlocks/list/descriptor.h"

static int let_pass(struct lock *lock)
{
    (void)lock;
    return 0;
}

static bool let_try(struct lock *lock)
{
    (void)lock;
    return true;
}

static const struct lock_operations wrong = {
    .lock = let_pass, .trylock = let_try, .unlock = let_pass};

int lock_find(const char *name)
{
    (void)name;
    return 1;
}

const struct lock_operations *lock_operations_at(unsigned index)
{
    (void)index;
    return &wrong;
}

struct lock_descriptor lock_at(unsigned index)
{
    (void)index;
    return (struct lock_descriptor){.name = "wrong"};
}

/* A reader-writer lock that nobody waits for. */
static int rwlock_acquired(struct rwlock *lock)
{
    (void)lock;
    return 0;
}

unsigned rwlock_default_slot;

int rwlock_find(const char *name)
{
    (void)name;
    return 1;
}

struct rwlock_descriptor rwlock_at(unsigned index)
{
    (void)index;
    return (struct rwlock_descriptor){.about = {.name = "wrong"},
                                      .operations = {.read_lock = rwlock_acquired,
                                                     .write_lock = rwlock_acquired,
                                                     .unlock = rwlock_acquired}};
}
