/* SPDX-License-Identifier: MIT */
/*
 * Lock elision: a critical section runs as a hardware transaction that reads the lock
 * but does not acquire it. R. Rajwar, J. Goodman, "Speculative lock elision", MICRO
 * 2001; eager subscription as in glibc 2.18 to 2.42 and in Moore's thesis.
 *
 * Every lock of the list can be elided, because the word of struct lock is not 0 while
 * the lock is held:
 *
 * E1. A transaction reads the word first, and aborts unless it is 0. Whoever acquires
 *     the lock later writes the word, and so aborts the transaction.
 * E2. A thread that acquires the lock makes the word visible before it reads anything
 *     in its section. Where the algorithm acquires by an atomic operation on the word
 *     (OWN_WORD), that is so; all others store the word afterwards, so a full fence
 *     follows. Without it, on x86-64 the section's loads may precede that store, and a
 *     transaction could commit in between.
 * E3. A holder clears the word after its last access to protected data, which needs no
 *     fence instruction on x86-64. A transaction may commit once the word is 0, even if
 *     the algorithm has not released the lock yet.
 * E4. A thread has a list of the locks that it elides. An unlock of any other lock goes
 *     to the algorithm; that of a free mutex, for which glibc executed an XEND outside
 *     a transaction, does nothing.
 * E5. Locks with an owner (recursive and error-checking mutexes) are never elided.
 * E6. A side of a rwlock is elided while `available` says that its trylock would
 *     succeed. It reads only what every acquisition that excludes the side writes by an
 *     atomic operation, so E1 and E2 hold for it: a read section commits beside
 *     readers, and a write section beside nobody.
 *
 * When transactions are emulated (htm.h), the section acquires the lock after all, but
 * is counted and handled as an elided one. An abort inside it only changes the counts.
 */
#ifndef HASP_ELISION_ELIDE_H
#define HASP_ELISION_ELIDE_H

#include "elision/counts.h"
#include "elision/policy.h"
#include "locks/list/descriptor.h"

/* A lock of the list, or a side of a rwlock, that is elided. */
struct elided {
    const struct lock_operations *inner;
    bool own_word; /* acquired by an atomic operation on the word */
    bool reads;    /* the side of readers */
    bool (*available)(const struct lock *); /* of a rwlock (E6); NULL: a mutex */
    uint16_t skips_at; /* the offset of the number that P2 counts down */
};

/* As in struct lock_operations. `site`: the instruction that called, or NULL. */
int elision_lock(struct lock *lock, const struct elided *as, const void *site);
bool elision_trylock(struct lock *lock, const struct elided *as, const void *site);
bool elision_timedlock(struct lock *lock, const struct elided *as,
                       const struct deadline *deadline);
int elision_unlock(struct lock *lock, const struct elided *as, const void *site);

/* After the algorithm has acquired the lock: see E2. */
static inline void elision_acquired(const struct elided *as)
{
    if (as->own_word)
        fence_after_atomic();
    else
        fence_seq_cst();
}

/* Aborts the caller's transaction, if there is one, because the program is about to do
 * something that cannot be in one. */
void elision_leave(uint8_t code);

/* Called when the calling thread ends; it may still lock mutexes afterwards. */
void elision_thread_ends(void);

/* Returns how many locks the caller elides. */
unsigned elision_depth(void);

#endif
