/* SPDX-License-Identifier: MIT */
/*
 * When to elide a lock, and when to give up. The policy of Moore (MSc thesis,
 * Virginia Tech 2015, sections 3.2 and 5.1), which is glibc's plus waiting before each
 * attempt; and two remedies for what the thesis found. Nothing here touches hardware.
 *
 * P1. A lock is elided in at most `tries` attempts; a trylock in one.
 * P2. An abort without the retry bit ends the attempts: the lock is acquired, and so
 *     are the next `skip` acquisitions of this lock. An explicit abort because the lock
 *     was held has no retry bit, but counts as one that has it: P3 makes the next
 *     attempt begin with a free lock.
 * P3. Before each attempt the thread waits until the lock is free, at most for as long
 *     as parking costs. Otherwise one acquisition makes all others acquire, too (the
 *     lemming effect).
 * P4. A site is the instruction that called the lock function. When the attempts of a
 *     call from a site end as in P2, the next `skip` calls from it do not elide. The
 *     number doubles with each further failure, SITE_DOUBLINGS times at most, and a
 *     commit resets it.
 * P5. When a transaction aborts in a nested section, the thread acquires the outermost
 *     lock and elides none of the inner ones until it releases the outermost one.
 *     Otherwise it would try to elide each level in turn, each time up to the same
 *     abort (the lock cascade: the work grows with the square of the depth).
 * P6. A section with nothing between lock and unlock is a barrier: the program waits
 *     for the holder. Elided, it would order nothing. It aborts at its end, and takes
 *     the lock.
 */
#ifndef HASP_ELISION_POLICY_H
#define HASP_ELISION_POLICY_H

#include "platform/htm.h"

enum {
    ELISION_TRIES = 3,   /* retry_try_xbegin in glibc 2.19; the thesis, section 3.2 */
    ELISION_SKIP = 3,    /* skip_lock_internal_abort there; the thesis, section 3.2 */
    ELISION_NESTING = 7, /* levels that commit; 8 never do (section 5.1.1) */
    ELISION_SITE_DOUBLINGS = 8,
    ELISION_EMPTY_BYTES = 12, /* from lock's return address to unlock's: x86-64 needs 8
                                 for its argument and call, and 12 for an address */
    ELISION_GUARDED = 64, /* inner acquisitions after which P5 forgets the lock */
};

/* Codes of explicit aborts; the first two are glibc's. */
enum {
    ELISION_BUSY = 0xff,    /* the lock is held */
    ELISION_TRYLOCK = 0xfd, /* a trylock inside an elided section */
    ELISION_WAIT = 0xfc,    /* a wait for a condition variable inside one */
    ELISION_RELOCK = 0xfb,  /* a lock that the thread elides already */
    ELISION_SCOPE = 0xfa,   /* global mode ends (elision/global.h) */
    ELISION_EMPTY = 0xf9,   /* a section without an instruction (P6) */
};

/* The result of lock() if it has not acquired the lock; only in global mode. */
enum { ELISION_GAVE_UP = 1 };

/* Set before there is a second thread. */
struct elision_settings {
    uint32_t tries, skip;
    uint32_t nesting; /* levels of transactions; deeper sections are in the last one */
    bool waits_first;   /* P3 */
    bool by_site;       /* P4 */
    bool guards_nests;  /* P5 */
    bool trylock_nests; /* a trylock inside an elided section elides, too */
    bool timed;         /* measure the times of elision/account.h */
    bool global;        /* scope=global: all mutexes are one (elision/global.h) */
    uint32_t watchdog_ms; /* in global mode; 0: none */
};

extern struct elision_settings elision_settings __attribute__((visibility("hidden")));

enum elision_cause {
    ELISION_BY_CONFLICT,
    ELISION_BY_CAPACITY,
    ELISION_BY_BUSY,    /* the lock was held */
    ELISION_BY_TRYLOCK,
    ELISION_BY_WAIT,    /* for a condition variable */
    ELISION_BY_CODE,    /* other explicit aborts */
    ELISION_BY_DEBUG,
    ELISION_BY_OTHER,   /* interrupt, system call, page fault ... */
    ELISION_CAUSES,
};

/* Returns why a transaction aborted. */
static inline enum elision_cause elision_cause(uint32_t status)
{
    if (status & HTM_EXPLICIT) {
        uint8_t code = htm_code(status);
        return code == ELISION_BUSY      ? ELISION_BY_BUSY
               : code == ELISION_TRYLOCK ? ELISION_BY_TRYLOCK
               : code == ELISION_WAIT    ? ELISION_BY_WAIT
                                         : ELISION_BY_CODE;
    }
    return status & HTM_CAPACITY   ? ELISION_BY_CAPACITY
           : status & HTM_CONFLICT ? ELISION_BY_CONFLICT
           : status & HTM_DEBUG    ? ELISION_BY_DEBUG
                                   : ELISION_BY_OTHER;
}

/* Returns whether another attempt may succeed (P2). */
static inline bool elision_may_retry(uint32_t status)
{
    return status & HTM_RETRY || elision_cause(status) == ELISION_BY_BUSY;
}

/* A site's record: the number of next calls that do not elide, plus SITE_FAILURES for
 * each failure since the last commit. */
enum { ELISION_SITE_FAILURES = 1 << 16 };

static inline uint32_t elision_site_after_failure(uint32_t record, uint32_t skip)
{
    uint32_t failures = record / ELISION_SITE_FAILURES;
    uint32_t left = skip << failures;
    if (failures < ELISION_SITE_DOUBLINGS)
        failures++;
    return failures * ELISION_SITE_FAILURES + left % ELISION_SITE_FAILURES;
}

#endif
