/* SPDX-License-Identifier: MIT */
/*
 * The layout of a spin lock: the 4 bytes of a pthread_spinlock_t.
 *
 * Another process may use the same word without Hasp, and a program may use a lock that
 * it has initialised as private from several processes, which works with glibc's
 * functions. So the word follows glibc's protocol, except for `ticket`:
 *
 *   SPINLOCK_FREE   free: 1 on x86-64, 0 elsewhere
 *   SPINLOCK_HELD   held: 0 on x86-64, 1 elsewhere. On x86-64, each waiter of glibc's
 *                   subtracts 1 when it finds the lock taken
 *   SPINLOCK_SLEPT  held, and threads may be asleep. glibc's functions take it for held
 *
 * A ticket lock has no room for that. It takes a word of its own form only from
 * pthread_spin_init for a private lock, and follows glibc's protocol on all others.
 * TICKET_TAG distinguishes the two: glibc's words have neither of its values.
 *
 * The operations access the word atomically even while the process has one thread: the
 * lock may be shared with another process.
 *
 * RELEASE RULE. After the store or exchange that releases a lock, the releaser neither
 * reads nor writes the word. It may call unpark() with its address.
 */
#ifndef HASP_SPINLOCKS_SPINLOCK_H
#define HASP_SPINLOCKS_SPINLOCK_H

#include "platform/platform.h"

/* Far from the values that glibc's waiters can count down to, from HELD or from here.
 */
#define SPINLOCK_SLEPT 0xc0000000u

/* `serving` of a ticket lock: the tag and the number being served. `next`: the number
 * to draw next, and the fork generation of the last repair. */
enum {
    TICKET_TAG = 0x4000,
    TICKET_TAG_MASK = 0xc000,
    TICKET_NUMBERS = 0x1000, /* numbers wrap here */
    TICKET_SHIFT = 4,        /* of the number in `next` */
    TICKET_GENERATIONS = 1 << TICKET_SHIFT,
};

/* Either the word or the two numbers, which lie over it, is used. */
struct spinlock {
    union {
        struct atomic_u32 word;
        struct {
            struct atomic_u16 serving, next;
        };
    };
};

_Static_assert(sizeof(struct spinlock) == 4, "lies over a pthread_spinlock_t");

static inline bool spinlock_word_slept(uint32_t word)
{
    return word - (SPINLOCK_SLEPT - 0x20000000u) <= 0x20000000u;
}

static inline uint32_t ticket_number(uint32_t next)
{
    return next >> TICKET_SHIFT;
}

static inline bool ticket_is_tagged(uint32_t serving)
{
    return (serving & TICKET_TAG_MASK) == TICKET_TAG;
}

/* Returns whether a word that was read at some moment is that of a free lock. */
static inline bool spinlock_word_is_free(uint32_t word)
{
    if (!ticket_is_tagged(word))
        return word == SPINLOCK_FREE;
    return (word & (TICKET_NUMBERS - 1)) == ticket_number(word >> 16);
}

#endif
