/* SPDX-License-Identifier: MIT */
/* Replaces the lock list (locks/list/descriptor.h): the only lock is pthread's mutex,
 * which is called directly. */
#include "excluding.h"
#include "rwlocks/list/descriptor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void excluding_must(int status, const char *what)
{
    if (likely(status == 0))
        return;
    fprintf(stderr, "hasp-shapes: %s failed: %s\n", what, strerror(status));
    exit(EXIT_FAILURE);
}

int lock_find(const char *name)
{
    return strcmp(name, DEFAULT_LOCK) == 0 ? 1 : -1;
}

const struct lock_operations *lock_operations_at(unsigned index)
{
    (void)index;
    return NULL;
}

unsigned rwlock_default_slot;

int rwlock_find(const char *name)
{
    return lock_find(name);
}

struct rwlock_descriptor rwlock_at(unsigned index)
{
    return (struct rwlock_descriptor){.about = lock_at(index)};
}

struct lock_descriptor lock_at(unsigned index)
{
    (void)index;
    return (struct lock_descriptor){.name = DEFAULT_LOCK};
}
