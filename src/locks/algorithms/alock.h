/* SPDX-License-Identifier: MIT */
/*
 * Array lock. T. Anderson, "The performance of spin lock alternatives for shared-memory
 * multiprocessors", IEEE TPDS 1(1), 1990.
 *
 * Idea: each arrival draws the next slot of an array and waits there, on a cache line
 * of its own; the releaser marks the slot after its own. The array is outside the mutex
 * and is created by the first waiter; until then the lock is a ticket lock. It has as
 * many slots as the host has CPUs, rounded up to a power of two, and at least 16. A
 * slot holds numbers instead of a flag, so that there may be more threads than slots.
 *
 *   next, left  as in ticket.h
 *   serving    the number being served until the slots are in use; afterwards the
 *              number of a holder that has no node
 *   directory  0 until a thread waits; in it, ARRAY; MAKER, the fork generation of the
 *              thread that makes it; MASK, slots less 1; and the flag: the slots are in
 *              use
 *   mode       1 while a holder has a node
 *   slot       SERVED, the last number served of those that map to it; AWAITED, the
 *              last whose owner waits there and will not leave; STANDS, the last that
 *              was served while the word stood
 *   node       of a holder that waited in a slot: DIRECTORY and NUMBER, so that it
 *              hands over without reading the lock (held_nodes.h)
 *
 * I1. Once the slots are in use, number n is being served from the store of n to SERVED
 *     of its slot (release, pairs with alock_served) to that of n + 1; the lock is free
 *     exactly when `next` is being served. As a holder draws its number before it
 *     stores that in `serving`, serving never equals next again, and a thread that has
 *     not seen the flag acquires nothing.
 * I2. The flag is set by a holder that has the last number served by `serving`, before
 *     it serves the next one; it is never cleared.
 * I3. The word stands (shown_word.h) when a number is served that its owner awaits.
 *     Other releases clear it first, and `mode`.
 *
 * Timed lock: as in ticket.h. A waiter with a deadline does not show that it waits.
 */
#ifndef HASP_LOCKS_ALGORITHMS_ALOCK_H
#define HASP_LOCKS_ALGORITHMS_ALOCK_H

#include "locks/algorithms/alock_slots.h"

static inline void alock_before_release(struct lock *lock)
{
    fork_repair_in_child(lock, alock_forget);
}

static __attribute__((noinline, unused)) bool alock_enter(struct lock *lock)
{
    struct side_block *directory = slots_in_use(lock);
    if (!directory)
        return tickets_fast(lock, &ticket_kind);
    struct tickets *tickets = tickets_of(lock);
    uint32_t next = load_relaxed(&tickets->next), mine = next;
    if (!alock_is_served(directory, mine) ||
        !compare_exchange_relaxed(&tickets->next, &next, mine + 1))
        return false;
    store_relaxed(&tickets->serving, mine);
    return true;
}

static inline bool alock_fast(struct lock *lock)
{
    prefetch_for_write(&tickets_of(lock)->next);
    if (unlikely(load_relaxed(slots_directory(lock)) != 0))
        return !load_relaxed(&lock->word) && alock_enter(lock);
    return tickets_fast(lock, &ticket_kind);
}

static __attribute__((noinline, unused)) bool alock_retry(struct lock *lock)
{
    fork_repair_if_due(lock, alock_forget); /* a token may announce a number */
    retire_tokens(lock, &alock_kind);
    return alock_enter(lock);
}

static inline bool alock_trylock(struct lock *lock)
{
    if (load_relaxed(&lock->word))
        return false;
    return alock_fast(lock) ||
           (unlikely(load_relaxed(&tickets_of(lock)->left) != 0) && alock_retry(lock));
}

/* Returns true if the caller has acquired the lock instead of being allowed to draw. */
static inline bool alock_enter_timed(struct lock *lock, const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    while (tokens_left(tickets_of(lock)) >= TOKENS_MOST && !deadline_passed(deadline)) {
        if (alock_trylock(lock))
            return true;
        spinner_spin(&spinner, NULL);
    }
    return false;
}

/* The caller has waited and been served: holds the lock by its node if that was done in
 * a slot. */
static inline enum acquisition alock_keep(struct side_block *directory,
                                          struct lock *lock, struct waiter *self,
                                          uint32_t mine)
{
    if (!directory) {
        held_nodes_cancel(lock);
        waiter_give(self);
        return ACQUIRED;
    }
    store_relaxed(&self->more[ALOCK_DIRECTORY], directory->link.id);
    store_relaxed(&self->more[ALOCK_NUMBER], mine);
    if (load_relaxed(&alock_slot(directory, mine)[ALOCK_STANDS]) != mine) {
        store_relaxed(&lock->mode, 1);
        shown_word_set(lock, OWNER_IN_NODE);
    }
    held_node_begin(lock, self);
    return ACQUIRED_BY_NODE;
}

static __attribute__((noinline, unused)) enum acquisition
alock_acquire(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, alock_forget);
    struct tickets *tickets = tickets_of(lock);
    if (deadline && unlikely(tokens_left(tickets) >= TOKENS_MOST)) {
        if (alock_enter_timed(lock, deadline))
            return ACQUIRED;
        if (deadline_passed(deadline))
            return NOT_ACQUIRED;
    }
    struct side_block *directory = slots_in_use(lock);
    uint32_t mine = fetch_add_relaxed(&tickets->next, 1);
    if (!directory) {
        if (tickets_served(lock, mine))
            return ACQUIRED;
        alock_make(lock);
    } else if (alock_is_served(directory, mine)) {
        store_relaxed(&tickets->serving, mine);
        return ACQUIRED;
    }
    struct waiter *self = waiter_take();
    held_node_prepare(lock, self);
    held_nodes_expect(lock, self);
    if (alock_wait(&directory, lock, mine, deadline))
        return alock_keep(directory, lock, self, mine);
    held_nodes_cancel(lock);
    waiter_give(self);
    tickets_leave(lock, mine, &alock_kind);
    return NOT_ACQUIRED;
}

/* Releases a lock that is held through a node. */
static __attribute__((noinline, unused)) void alock_hand_over(struct lock *lock,
                                                              struct waiter *node)
{
    held_node_release(lock, node, alock_forget);
    uint32_t next = load_relaxed(&node->more[ALOCK_NUMBER]) + 1;
    struct side_block *directory =
        side_block_at(load_relaxed(&node->more[ALOCK_DIRECTORY]));
    struct atomic_u32 *slot = alock_slot(directory, next);
    prefetch_for_write(&slot[ALOCK_SERVED]);
    if (likely(load_relaxed(&slot[ALOCK_AWAITED]) == next)) {
        store_relaxed(&slot[ALOCK_STANDS], next);
    } else {
        store_relaxed(&lock->mode, 0);
        shown_word_clear(lock);
    }
    store_release(&slot[ALOCK_SERVED], next);
    release_window();
    waiter_give(node);
}

/* A holder without a node releases a lock for which a thread has waited. */
static __attribute__((noinline, unused)) void alock_release_slowly(struct lock *lock)
{
    if (load_relaxed(&lock->mode)) {
        struct waiter *node = held_node_of_other(lock);
        if (node)
            alock_hand_over(lock, node);
        return;
    }
    uint32_t next = load_relaxed(&tickets_of(lock)->serving) + 1;
    struct side_block *directory = slots_in_use(lock);
    if (!directory)
        directory = alock_start(lock);
    if (!directory) {
        alock_serve(lock, next);
        return;
    }
    struct atomic_u32 *slot = alock_slot(directory, next);
    prefetch_for_write(&slot[ALOCK_SERVED]);
    if (load_relaxed(&slot[ALOCK_AWAITED]) == next) {
        store_relaxed(&lock->mode, 1);
        shown_word_restore(lock);
        store_relaxed(&slot[ALOCK_STANDS], next);
    }
    store_release(&slot[ALOCK_SERVED], next);
    release_window();
}

/* Called when the word is cleared. */
static inline void alock_release(struct lock *lock)
{
    struct tickets *tickets = tickets_of(lock);
    if (likely(!load_relaxed(slots_directory(lock)))) {
        store_release(&tickets->serving, load_relaxed(&tickets->serving) + 1);
        release_window();
    } else {
        alock_release_slowly(lock);
    }
}

static inline void alock_destroy(struct lock *lock)
{
    tickets_destroy(lock);
    uint32_t id = load_relaxed(slots_directory(lock));
    if (likely(!id))
        return;
    struct atomic_u32 *array = &side_block_at(id)->words[ALOCK_ARRAY];
    id = exchange_relaxed(array, 0);
    if (id)
        side_array_give(id);
    store_relaxed(array + (ALOCK_MAKER - ALOCK_ARRAY), 0);
    store_relaxed(array + (ALOCK_MASK - ALOCK_ARRAY), 0);
    side_memory_free(slots_directory(lock));
}

#endif
