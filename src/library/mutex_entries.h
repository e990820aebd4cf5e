/* SPDX-License-Identifier: MIT */
/*
 * The entries of every lock of the list, inline: mutex_NAME_lock_entry() and so on. The
 * compiler drops those that a program does not use.
 */
#ifndef HASP_LIBRARY_MUTEX_ENTRIES_H
#define HASP_LIBRARY_MUTEX_ENTRIES_H

#include "locks/list/lock_entries.h"

/* First all algorithms. */
#define LOCK(...)
#include "locks/locks.def"
#undef LOCK

/* Slots as in lock->algorithm: 0 is the default, 1 stands for glibc's mutex. */
#define LOCK(name, ...) MUTEX_SLOT_##name,
enum {
    MUTEX_SLOT_default,
    MUTEX_SLOT_glibc,
#include "locks/locks.def"
    MUTEX_SLOTS_LISTED
};
#undef LOCK

/* The slow path of each lock is in the library. */
#define LOCK(name, title, alias, prefix, argument, word, ...)                          \
    int mutex_##name##_lock_slowly(struct lock *lock);                                 \
    DEFINE_UNLOCK_##word(mutex_##name, prefix, word, argument)                         \
        DEFINE_LOCK_ENTRY(mutex_##name, prefix, word)                                  \
            DEFINE_TRYLOCK_ENTRY(mutex_##name, prefix, word, argument)
#include "locks/locks.def"
#undef LOCK

#endif
