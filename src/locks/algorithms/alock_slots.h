/* SPDX-License-Identifier: MIT */
/*
 * The slots of an array lock (see alock.h): how they are made, how a number is served,
 * and how a thread waits for its own.
 */
#ifndef HASP_LOCKS_ALGORITHMS_ALOCK_SLOTS_H
#define HASP_LOCKS_ALGORITHMS_ALOCK_SLOTS_H

#include "locks/algorithms/partitioned.h"
#include "locks/waiting/held_nodes.h"

enum { ALOCK_ARRAY, ALOCK_MAKER, ALOCK_MASK };      /* words of the directory */
enum { ALOCK_SERVED, ALOCK_AWAITED, ALOCK_STANDS }; /* words of a slot */
enum { ALOCK_DIRECTORY, ALOCK_NUMBER };             /* in `more` of a node */

/* The most spins between two checks for tokens, about two milliseconds. They grow up to
 * that, because each check takes the line of the lock from those that arrive. */
enum { ALOCK_PATIENCE_MOST = MODEL_CHECKED ? 1 : 16 * SLOT_PATIENCE };

static inline struct atomic_u32 *alock_slot(struct side_block *directory,
                                            uint32_t number)
{
    return side_array_at(load_relaxed(&directory->words[ALOCK_ARRAY]),
                         number & load_relaxed(&directory->words[ALOCK_MASK]));
}

static inline bool alock_is_served(struct side_block *directory, uint32_t number)
{
    return load_acquire(&alock_slot(directory, number)[ALOCK_SERVED]) == number;
}

static inline bool alock_served(struct lock *lock, uint32_t number)
{
    struct side_block *directory = slots_in_use(lock);
    return directory ? alock_is_served(directory, number)
                     : tickets_served(lock, number);
}

/* The caller does not hold the lock, or has cleared its word. */
static inline void alock_serve(struct lock *lock, uint32_t number)
{
    struct side_block *directory = slots_in_use(lock);
    store_release(directory ? &alock_slot(directory, number)[ALOCK_SERVED]
                            : &tickets_of(lock)->serving,
                  number);
    release_window();
}

static inline void alock_forget(struct lock *lock, bool held);
static const struct ticket_kind alock_kind = {
    .served = alock_served,
    .serve = alock_serve,
    .forget = alock_forget,
};

/* No thread of a forked child releases before the repair, so only `next` may change
 * meanwhile, and only if none of the parent's threads is queued. */
static inline void alock_forget(struct lock *lock, bool held)
{
    struct side_block *directory = slots_in_use(lock);
    if (!directory) {
        tickets_forget(lock, held, &alock_kind);
        return;
    }
    struct tickets *tickets = tickets_of(lock);
    uint32_t next = load_relaxed(&tickets->next);
    if (alock_is_served(directory, next) || alock_is_served(directory, next - 1))
        return;
    store_relaxed(&tickets->left, 0);
    struct waiter *node = load_relaxed(&lock->mode) ? held_nodes_search(lock) : NULL;
    if (node) {
        store_relaxed(&node->more[ALOCK_NUMBER], next - 1);
    } else if (load_relaxed(&lock->mode)) { /* in the middle of a hand-over */
        shown_word_clear(lock);
        store_relaxed(&lock->mode, 0);
        held = false;
    } else if (held) {
        store_relaxed(&tickets->serving, next - 1);
    }
    alock_serve(lock, next - (node || held));
}

/* Creates the slots, unless another thread does, or memory is scarce. */
static __attribute__((noinline, unused)) void alock_make(struct lock *lock)
{
    struct side_block *directory = side_block_of(slots_directory(lock));
    struct atomic_u32 *array = &directory->words[ALOCK_ARRAY],
                      *maker = &directory->words[ALOCK_MAKER];
    uint32_t now = fork_generation(), before = load_relaxed(maker), none = 0;
    if (before == now || !compare_exchange_relaxed(maker, &before, now))
        return;
    uint32_t id = load_relaxed(array) ? 0 : side_array_take();
    if (id && !compare_exchange_release(array, &none, id))
        side_array_give(id);
}

/* The holder starts using the slots if there are any. */
static inline struct side_block *alock_start(struct lock *lock)
{
    if (!side_memory_find(slots_directory(lock), ALOCK_ARRAY))
        return NULL;
    struct side_block *directory = side_block_at(load_relaxed(slots_directory(lock)));
    store_relaxed(&directory->words[ALOCK_MASK], array_slots() - 1);
    store_release(&directory->words[SIDE_FLAG], SIDE_IN_USE);
    return directory;
}

/* Waits in a slot for the number; returns false if the deadline has passed. */
static inline bool alock_wait_in(struct side_block *directory, struct lock *lock,
                                 uint32_t mine, const struct deadline *deadline)
{
    struct atomic_u32 *slot = alock_slot(directory, mine);
    struct spinner spinner = {0, 0};
    if (!deadline)
        store_relaxed(&slot[ALOCK_AWAITED], mine);
    uint32_t patience = SLOT_PATIENCE;
    while (true) {
        uint32_t left = patience;
        while (load_acquire(&slot[ALOCK_SERVED]) != mine) {
            if (!spinner_spin_within(&spinner, &left, deadline))
                return false;
            if (!left)
                break;
        }
        if (left)
            return true;
        if (patience < ALOCK_PATIENCE_MOST)
            patience *= 2;
        if (unlikely(load_relaxed(&tickets_of(lock)->left) != 0) &&
            !load_relaxed(&lock->word))
            retire_tokens(lock, &alock_kind);
    }
}

/* Waits for the number; returns false if the deadline has passed. Sets `*directory` if
 * the slots have come into use. */
static inline bool alock_wait(struct side_block **directory, struct lock *lock,
                              uint32_t mine, const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    while (!*directory) {
        if (tickets_served(lock, mine))
            return true;
        if (unlikely(load_relaxed(&tickets_of(lock)->left) != 0) &&
            !load_relaxed(&lock->word))
            retire_tokens(lock, &alock_kind);
        if (!spinner_spin(&spinner, deadline))
            return false;
        *directory = slots_in_use(lock);
    }
    return alock_wait_in(*directory, lock, mine, deadline);
}

#endif
