/* SPDX-License-Identifier: MIT */
/*
 * Phase-fair lock with tickets (PF-T). B. Brandenburg, J. Anderson, "Spin-based
 * reader-writer synchronization for multiprocessor real-time systems", Real-Time
 * Systems 46, 2010; first in ECRTS 2009.
 *
 * Idea: phases of readers and of one writer alternate while both wait. A writer
 * announces itself in the readers' counter of arrivals; readers that arrive later wait
 * until its bits change, which is at the end of its phase, however many writers wait.
 *
 *   word      low half: `wout`, the number of writers that have left; high half: `rin`,
 *             in its low byte the bits of the writer that is present, above it the
 *             number of readers that have arrived
 *   state[0]  `rout`: number of readers that have left, above an empty low byte
 *   state[1]  `win`: number of writers that have arrived
 *   state[2]  `phase`: the lowest bit of the last writer that set its bits
 *
 * I1. A writer whose turn it is has number wout. It sets its bits and waits until rout
 *     equals the rin that it found: all readers that arrived before it have left, and
 *     those that arrived later wait.
 * I2. A writer's release clears its bits and counts it as left in one exchange.
 * I3. The bits of two writers in turn differ, so a reader that waits for one does not
 *     mistake the next for it. The writer whose turn it is changes `phase` when it sets
 *     its bits. (In the published lock it is the lowest bit of the number; but a
 *     trylock may use up a number without setting bits.)
 *
 * Timed lock: a reader or writer that has arrived cannot leave again. So a thread with
 * a deadline does not arrive; it repeats its trylock, and may be overtaken without
 * bound.
 * Trylock of a writer: if it draws its number but then finds readers, it passes its
 * turn on.
 * Kind that prefers writers: readers arrive only while no writer has.
 * Fork: in the child, those who arrived are set to those who hold the lock.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_PHASE_FAIR_H
#define HASP_RWLOCKS_ALGORITHMS_PHASE_FAIR_H

#include "locks/waiting/policies.h"
#include "rwlocks/read_holds.h"
#include "rwlocks/rwlock.h"

enum { PHASE_FAIR_READER = 0x100, PHASE_FAIR_BITS = 0xff };
enum { PHASE_FAIR_PRESENT = 2, PHASE_FAIR_PHASE = 1 };

static inline uint32_t phase_fair_wout(uint64_t word)
{
    return (uint32_t)word;
}

static inline uint32_t phase_fair_rin(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline enum rwlock_use phase_fair_use(const struct rwlock *lock)
{
    uint32_t rin = phase_fair_rin(load_relaxed(&lock->word));
    uint32_t came = rin & ~(uint32_t)PHASE_FAIR_BITS;
    return load_relaxed(&lock->writer)               ? RWLOCK_WRITTEN
           : came != load_relaxed(&lock->state[0]) ? RWLOCK_READ
                                                     : RWLOCK_FREE;
}

static inline bool phase_fair_open(const struct rwlock *lock, uint64_t word)
{
    return !(phase_fair_rin(word) & PHASE_FAIR_BITS) &&
           (!rwlock_prefers_writers(lock) ||
            load_relaxed(&lock->state[1]) == phase_fair_wout(word));
}

static inline bool phase_fair_read_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (phase_fair_open(lock, word))
        if (compare_exchange_acquire(&lock->word, &word,
                                     word + ((uint64_t)PHASE_FAIR_READER << 32)))
            return true;
    return false;
}

/* The writer with number wout leaves; `bits` are those that it has set. */
static inline void phase_fair_pass_turn(struct rwlock *lock, uint32_t bits)
{
    uint64_t word = load_relaxed(&lock->word), passed;
    do
        passed = (uint64_t)(phase_fair_rin(word) & ~bits) << 32 |
                 (phase_fair_wout(word) + 1u);
    while (!compare_exchange_release(&lock->word, &word, passed));
    release_window();
}

/* Returns the bits of the next writer, for the thread whose turn it is. */
static inline uint32_t phase_fair_next_bits(struct rwlock *lock)
{
    uint32_t phase = load_relaxed(&lock->state[2]);
    return PHASE_FAIR_PRESENT | (~phase & PHASE_FAIR_PHASE);
}

static inline void phase_fair_note_bits(struct rwlock *lock, uint32_t bits)
{
    store_relaxed(&lock->state[2], bits & PHASE_FAIR_PHASE);
}

static inline bool phase_fair_write_trylock(struct rwlock *lock)
{
    uint64_t word = load_acquire(&lock->word);
    uint32_t number = phase_fair_wout(word), drawn = number;
    uint32_t left = load_acquire(&lock->state[0]);
    if (phase_fair_rin(word) != left ||
        !compare_exchange_acquire(&lock->state[1], &drawn, number + 1))
        return false;
    word = load_acquire(&lock->word); /* may have become another writer's since */
    uint32_t bits = phase_fair_next_bits(lock);
    while (phase_fair_rin(word) == left)
        if (compare_exchange_acquire(&lock->word, &word, word | (uint64_t)bits << 32)) {
            phase_fair_note_bits(lock, bits);
            return true;
        }
    phase_fair_pass_turn(lock, 0);
    return false;
}

static inline bool phase_fair_read_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && phase_fair_read_trylock(lock);
}

static inline bool phase_fair_write_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && phase_fair_write_trylock(lock);
}

static inline bool phase_fair_read_wait(struct rwlock *lock,
                                        const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    if (deadline || rwlock_prefers_writers(lock)) {
        while (!phase_fair_read_trylock(lock))
            if (!spinner_spin(&spinner, deadline))
                return false;
        return true;
    }
    uint64_t word =
        fetch_add_acquire(&lock->word, (uint64_t)PHASE_FAIR_READER << 32);
    uint32_t bits = phase_fair_rin(word) & PHASE_FAIR_BITS;
    while (bits != 0 &&
           (phase_fair_rin(load_acquire(&lock->word)) & PHASE_FAIR_BITS) == bits)
        (void)spinner_spin(&spinner, NULL);
    return true;
}

static inline bool phase_fair_write_wait(struct rwlock *lock,
                                         const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    if (deadline) {
        while (!phase_fair_write_trylock(lock))
            if (!spinner_spin(&spinner, deadline))
                return false;
        return true;
    }
    uint32_t number = fetch_add_relaxed(&lock->state[1], 1);
    while (phase_fair_wout(load_acquire(&lock->word)) != number)
        (void)spinner_spin(&spinner, NULL);
    uint32_t bits = phase_fair_next_bits(lock);
    phase_fair_note_bits(lock, bits);
    uint64_t word = fetch_add_acquire(&lock->word, (uint64_t)bits << 32);
    uint32_t came = phase_fair_rin(word);
    while (load_acquire(&lock->state[0]) != came)
        (void)spinner_spin(&spinner, NULL);
    return true;
}

static inline void phase_fair_read_unlock(struct rwlock *lock)
{
    fetch_add_release(&lock->state[0], PHASE_FAIR_READER);
}

static inline void phase_fair_write_unlock(struct rwlock *lock)
{
    phase_fair_pass_turn(lock, PHASE_FAIR_BITS);
}

static inline void phase_fair_forget(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    uint32_t wout = phase_fair_wout(word);
    uint32_t rin = load_relaxed(&lock->state[0]);
    bool written = load_relaxed(&lock->writer) != 0;
    if (written)
        rin |= PHASE_FAIR_PRESENT | load_relaxed(&lock->state[2]);
    else
        rin += PHASE_FAIR_READER * read_holds_counted(lock);
    store_relaxed(&lock->word, (uint64_t)rin << 32 | wout);
    store_relaxed(&lock->state[1], written ? wout + 1 : wout);
}

static inline void phase_fair_destroy(struct rwlock *lock)
{
    (void)lock;
}

#endif
