/* SPDX-License-Identifier: MIT */
/*
 * A gate with a count of readers on a line of each NUMA node, for cohort_rw.h: readers
 * of different nodes do not disturb each other, also while they wait. The word of the
 * thin form (thin_form.h) is one more gate, which is closed for ever once the lock is
 * inflated; a writer inside by it counts as many readers.
 *
 *   side     id of a directory: block READER_GATES + n has the gate of node n, and then
 *            `barred`, the number of that node's readers for which it has to stay open
 *   gate     bit 0: closed; bit 1: a writer may sleep until no reader is left; bit 2:
 *            readers may sleep; above them the readers that came at this node less
 *            those that left at it
 *
 * R1. A reader enters by one exchange that finds its gate open. A writer closes all
 *     gates, and then adds the counts up: no reader comes to stay meanwhile. A reader
 *     may leave at another node than it came to, so only the sum counts; it is at least
 *     the number of readers inside, because each of them is in the count of its gate
 *     since before that was closed.
 * R2. Gates are closed and opened by the holder of the writers' lock only.
 * R3. A writer that sleeps sets bit 1 of all gates, and parks at a place of sleepers.h;
 *     a reader that leaves finds the bit in the old value, and wakes it. The place
 *     belongs to the process: the lock may be gone by then. Readers sleep on the gate
 *     of their node; who opens it finds their bit, and wakes them by address.
 * R4. A reader that leaves (release) pairs with the writer that adds the counts up
 *     (acquire), and a gate that is opened (release) with the reader that enters by it
 *     (acquire).
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_READER_GATES_H
#define HASP_RWLOCKS_ALGORITHMS_READER_GATES_H

#include "locks/memory/side_memory.h"
#include "rwlocks/algorithms/thin_form.h"

enum { READER_GATES = 1, READER_NODES = SIDE_BLOCKS_MAX - READER_GATES };
enum { GATE_CLOSED = 1, GATE_AWAITED = 2, GATE_ASLEEP = 4, GATE_READER = 8 };
_Static_assert((int)GATE_AWAITED == (int)THIN_AWAITED &&
                   (int)GATE_READER == (int)THIN_READER,
               "gate_count() counts those inside by the thin form, too");
enum { READERS_BARRED = 1 }; /* word of a gate's block */

static inline uint32_t reader_nodes(void)
{
    return node_count() < READER_NODES ? node_count() : READER_NODES;
}

static inline struct side_block *reader_gate_block(struct rwlock *lock, uint32_t node)
{
    return side_memory_get(&lock->side, READER_GATES + node);
}

/* Returns the gate of the caller's node. */
static inline struct side_block *reader_gate(struct rwlock *lock)
{
    return reader_gate_block(lock, current_node() % READER_NODES);
}

static inline uint32_t gate_count(uint32_t gate)
{
    return gate & ~(uint32_t)(GATE_READER - 1);
}

/* Returns how many are inside by the thin form. */
static inline uint32_t readers_by_thin_form(struct rwlock *lock)
{
    return gate_count(load_acquire(thin_word(lock)));
}

/* Returns whether the counts add up to no reader. */
static inline bool readers_are_gone(struct rwlock *lock)
{
    uint32_t sum = readers_by_thin_form(lock), nodes = reader_nodes();
    for (uint32_t node = 0; node < nodes; node++) {
        struct side_block *block = side_memory_find(&lock->side, READER_GATES + node);
        sum += block ? gate_count(load_acquire(&block->words[0])) : 0;
    }
    return sum == 0;
}

static inline void reader_leaves(const struct rwlock *lock, struct side_block *gate)
{
    uint32_t was = fetch_add_release(&gate->words[0], ~(uint32_t)GATE_READER + 1);
    release_window();
    if (unlikely(was & GATE_AWAITED))
        sleepers_wake(sleepers_place(lock, 0));
}

/* Enters if the gate is open; otherwise leaves no trace. */
static inline bool reader_enters(const struct rwlock *lock, struct side_block *gate)
{
    uint32_t was = fetch_add_acquire(&gate->words[0], GATE_READER);
    if (likely(!(was & GATE_CLOSED)))
        return true;
    reader_leaves(lock, gate);
    return false;
}

static inline bool reader_gate_is_closed(struct side_block *gate)
{
    return (load_acquire(&gate->words[0]) & GATE_CLOSED) != 0;
}

/* Waits a while if the gate is closed. Returns false if the deadline has passed. */
static inline bool reader_waits(struct side_block *gate, uint32_t *spins,
                                const struct deadline *deadline)
{
    struct atomic_u32 *cell = &gate->words[0];
    if (sleepers_spin_first(spins))
        return true;
    uint32_t seen = load_relaxed(cell);
    while (seen & GATE_CLOSED)
        if (seen & GATE_ASLEEP ||
            compare_exchange_relaxed(cell, &seen, seen | GATE_ASLEEP))
            return park(cell, seen | GATE_ASLEEP, deadline);
    return true;
}

/* The holder of the writers' lock closes the gates. Returns whether no reader is
 * inside. */
static inline bool reader_gates_close(struct rwlock *lock)
{
    uint32_t sum = readers_by_thin_form(lock), nodes = reader_nodes();
    for (uint32_t node = 0; node < nodes; node++)
        sum += gate_count(fetch_or_acquire(&reader_gate_block(lock, node)->words[0],
                                           GATE_CLOSED));
    return sum == 0 || (nodes > 1 && readers_are_gone(lock));
}

static inline void reader_gates_open(struct rwlock *lock)
{
    for (uint32_t node = 0; node < reader_nodes(); node++) {
        struct atomic_u32 *gate = &reader_gate_block(lock, node)->words[0];
        uint32_t was = fetch_and_release(gate, ~(uint32_t)(GATE_CLOSED | GATE_ASLEEP));
        if (unlikely(was & GATE_ASLEEP))
            unpark(gate, INT32_MAX);
    }
}

static inline void readers_are_awaited(struct rwlock *lock, bool awaited)
{
    thin_is_awaited(lock, awaited);
    for (uint32_t node = 0; node < reader_nodes(); node++) {
        struct atomic_u32 *gate = &reader_gate_block(lock, node)->words[0];
        if (awaited)
            fetch_or_acq_rel(gate, GATE_AWAITED);
        else
            fetch_and_relaxed(gate, ~(uint32_t)GATE_AWAITED);
    }
}

/* Waits until no reader is inside. Returns false if the deadline has passed. */
static inline bool readers_await(struct rwlock *lock, const struct deadline *deadline)
{
    uint32_t spins = spin_limit();
    bool in_time = true, gone;
    while (!(gone = readers_are_gone(lock)) && sleepers_spin_first(&spins))
        ;
    if (gone)
        return true;
    struct atomic_u32 *place = sleepers_place(lock, 0);
    do {
        uint32_t seen = load_acquire(place);
        readers_are_awaited(lock, true);
        if (!(gone = readers_are_gone(lock)))
            in_time = park(place, seen, deadline);
    } while (!gone && in_time);
    readers_are_awaited(lock, false);
    return gone;
}

/* Returns whether a reader keeps the gates open. */
static inline bool readers_bar_the_gates(struct rwlock *lock)
{
    for (uint32_t node = 0; node < reader_nodes(); node++)
        if (load_relaxed(&reader_gate_block(lock, node)->words[READERS_BARRED]))
            return true;
    return false;
}

#endif
