/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock in 4 bytes: first come, first served. D. Reed, R. Kanodia,
 * "Synchronization with eventcounts and sequencers", CACM 1979; J. Mellor-Crummey, M.
 * Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors",
 * TOCS 1991.
 *
 * Idea: a thread draws a number and waits until it is served; the release serves the
 * next number. Only the draw is a read-modify-write.
 *
 *   serving  tag and number served
 *   next     number to draw next, and the fork generation
 *
 * T1. The holder alone writes `serving` (release); the thread whose number it is reads
 *     it (acquire). These pair.
 * T2. Numbers repeat after TICKET_NUMBERS. A thread draws only if it has seen fewer
 *     than half as many waiting, so two threads with the same number would take half as
 *     many threads between that check and their draw at the same time.
 * T3. A word without the tag belongs to a lock that is shared with other processes, or
 *     was never initialised by Hasp: word.h's protocol applies, which is glibc's.
 * T4. A forked child inherits the numbers of threads that do not exist in it. The first
 *     thread of the child that uses the lock withdraws them: it sets `next` to the
 *     number after the one served if the lock is held, else to the one served. All
 *     threads of the child do that before they draw or release, by compare-and-set of a
 *     value that no other step of theirs changes, so exactly one succeeds. (The 17th
 *     generation of descendants takes a lock last used in the first for its own.)
 *
 * Trylock: draws by compare-and-set if the next number is the one served. If exactly a
 * multiple of TICKET_NUMBERS acquisitions happened between the two reads and that, it
 * has a number that is not served yet, and waits for it.
 */
#ifndef HASP_SPINLOCKS_ALGORITHMS_TICKET_H
#define HASP_SPINLOCKS_ALGORITHMS_TICKET_H

#include "spinlocks/algorithms/word.h"

/* What a thread of `ticket` does with a lock of glibc's form. */
enum { TICKET_FOREIGN = WORD_READ_FIRST | WORD_BACK_OFF };

static inline uint16_t ticket_generation(void)
{
    return (uint16_t)(fork_generation() % TICKET_GENERATIONS);
}

static inline void ticket_init(struct spinlock *lock, bool shared)
{
    if (shared) {
        word_init(lock, shared);
        return;
    }
    store_relaxed(&lock->serving, TICKET_TAG);
    store_relaxed(&lock->next, ticket_generation());
}

static inline uint32_t ticket_served(uint32_t serving)
{
    return serving & (TICKET_NUMBERS - 1);
}

/* T4: returns once the numbers of the parent's threads are withdrawn. */
static __attribute__((noinline, unused)) void ticket_repair(struct spinlock *lock)
{
    const uint16_t now = ticket_generation();
    uint16_t next = load_relaxed(&lock->next);
    while (next % TICKET_GENERATIONS != now) {
        uint32_t served = ticket_served(load_relaxed(&lock->serving));
        bool held = ticket_number(next) != served;
        uint16_t repaired = (uint16_t)((served + held) << TICKET_SHIFT | now);
        if (compare_exchange_relaxed(&lock->next, &next, repaired))
            break;
    }
}

static inline void ticket_repair_in_child(struct spinlock *lock)
{
    if (unlikely(is_forked_child()))
        ticket_repair(lock);
}

static inline void ticket_wait(struct spinlock *lock, uint32_t number)
{
    struct spinner spinner = {0, 0};
    while (ticket_served(load_acquire(&lock->serving)) != number)
        spinner_spin(&spinner, NULL);
}

static inline bool ticket_is_long(uint32_t served, uint32_t next)
{
    return ((ticket_number(next) - served) & (TICKET_NUMBERS - 1)) > TICKET_NUMBERS / 2;
}

/* T2: waits until fewer threads wait. */
static inline void ticket_wait_outside(struct spinlock *lock)
{
    struct spinner spinner = {0, 0};
    while (ticket_is_long(ticket_served(load_relaxed(&lock->serving)),
                          load_relaxed(&lock->next)))
        spinner_spin(&spinner, NULL);
}

static inline bool ticket_trylock(struct spinlock *lock)
{
    uint32_t serving = load_relaxed(&lock->serving);
    if (unlikely(!ticket_is_tagged(serving)))
        return word_trylock(lock);
    ticket_repair_in_child(lock);
    uint32_t served = ticket_served(serving);
    uint16_t next = load_relaxed(&lock->next);
    if (ticket_number(next) != served ||
        !compare_exchange_relaxed(&lock->next, &next,
                                  (uint16_t)(next + (1 << TICKET_SHIFT))))
        return false;
    if (unlikely(ticket_served(load_acquire(&lock->serving)) != served))
        ticket_wait(lock, served);
    return true;
}

static inline void ticket_unlock(struct spinlock *lock)
{
    uint32_t serving = load_relaxed(&lock->serving);
    if (unlikely(!ticket_is_tagged(serving))) {
        word_unlock(lock);
        return;
    }
    ticket_repair_in_child(lock);
    store_release(&lock->serving, (uint16_t)(TICKET_TAG | ticket_served(serving + 1)));
    release_window();
}

static inline void ticket_undo(void *lock)
{
    ticket_unlock(lock);
}

/* A thread that has drawn must stay until it is served: cancellation is deferred. */
static __attribute__((noinline, unused)) void ticket_queue(struct spinlock *lock)
{
    int token = wait_begin();
    ticket_repair_in_child(lock);
    ticket_wait_outside(lock);
    ticket_wait(lock, ticket_number(fetch_add_relaxed(&lock->next, 1 << TICKET_SHIFT)));
    wait_end(token, ticket_undo, lock);
}

static inline void ticket_lock(struct spinlock *lock)
{
    prefetch_for_write(&lock->next);
    if (likely(ticket_trylock(lock)))
        return;
    if (likely(ticket_is_tagged(load_relaxed(&lock->serving))))
        ticket_queue(lock);
    else
        word_wait(lock, TICKET_FOREIGN);
}

#endif
