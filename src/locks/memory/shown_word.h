/* SPDX-License-Identifier: MIT */
/*
 * The word and the owner of locks that keep their state elsewhere: what debuggers, the
 * recorder, and code that bypasses the interposer see.
 *
 * While a lock is handed over from waiter to waiter, the word *stands*: it stays set,
 * with OWNER_IN_NODE as the owner. Only the first holder and the last release write to
 * the lock's line.
 * Recursive and error-checking mutexes always show the id of their holder.
 */
#ifndef HASP_LOCKS_MEMORY_SHOWN_WORD_H
#define HASP_LOCKS_MEMORY_SHOWN_WORD_H

#include "locks/lock.h"

/* The caller has acquired the lock. If the word is not free, another thread has taken
 * it without going through the library, and both would run in the critical section. */
static inline __attribute__((always_inline)) void shown_word_set(struct lock *lock,
                                                                 uint32_t owner)
{
    if (unlikely(load_relaxed(&lock->word) != 0))
        die("a mutex was locked without the interposer (by a library in another "
            "namespace, or one bound to libc only?): run under --lock futex");
    store_relaxed(&lock->owner, owner);
    store_release(&lock->word, 2); /* pairs with the loads before those of the owner */
}

static inline void shown_word_clear(struct lock *lock)
{
    store_relaxed(&lock->word, 0);
}

/* A holder that cleared the word hands the lock over to a waiter after all. */
static inline void shown_word_restore(struct lock *lock)
{
    store_relaxed(&lock->owner, OWNER_IN_NODE);
    store_release(&lock->word, 2);
}

/* Returns whether the mutex is recursive or checks for errors. */
static inline bool shown_word_needs_owner(const struct lock *lock)
{
    enum { TYPE = 3, RECURSIVE = 1, ERRORCHECK = 2 }; /* of glibc's kind */
    int type = lock->kind & TYPE;
    return type == RECURSIVE || type == ERRORCHECK;
}

#endif
