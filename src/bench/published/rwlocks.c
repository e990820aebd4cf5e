/* SPDX-License-Identifier: MIT */
/* Replaces the list of reader-writer locks (rwlocks/list/descriptor.h) by published
 * forms. */
#include "bench/published/glibc_rwlock.h"
#include "rwlocks/list/descriptor.h"

#include <string.h>

static int glibc_unlock(struct rwlock *lock)
{
    if (load_relaxed(&lock->writer) == current_thread())
        glibc_write_unlock(lock);
    else
        glibc_read_unlock(lock);
    return 0;
}

unsigned rwlock_default_slot;

int rwlock_find(const char *name)
{
    return strcmp(name, "glibc") == 0 ? 1 : -1;
}

struct rwlock_descriptor rwlock_at(unsigned index)
{
    (void)index;
    return (struct rwlock_descriptor){
        .about = {.name = "glibc"},
        .operations = {.read_lock = glibc_read_lock,
                       .write_lock = glibc_write_lock,
                       .unlock = glibc_unlock},
    };
}
