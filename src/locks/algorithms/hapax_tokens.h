/* SPDX-License-Identifier: MIT */
/*
 * Tokens of values that timed-out waiters of a hapax lock have given up: {lock, value,
 * the value to wait for instead}. They do not fit into the lock, so they are in lists
 * that all locks share, hashed by the lock's address. These lists are only used after a
 * thread has timed out with another waiter behind it.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HAPAX_TOKENS_H
#define HASP_LOCKS_ALGORITHMS_HAPAX_TOKENS_H

#include "locks/waiting/policies.h"

enum { HAPAX_LISTS = 64 };

struct hapax_list {
    struct atomic_u32 guard; /* fork generation of the thread that has locked it, or
                              * 0 */
    struct atomic_u32 first; /* id of a waiter */
} __attribute__((aligned(64)));

static struct hapax_list hapax_lists[HAPAX_LISTS];

static inline struct hapax_list *hapax_list_of(struct lock *lock)
{
    return &hapax_lists[((uintptr_t)lock >> 3) % HAPAX_LISTS];
}

/* A list is consistent after each of its stores, so a child may take it over from a
 * thread of its parent. */
static inline void hapax_guard(struct hapax_list *list)
{
    struct spinner spinner = {0, 0};
    uint32_t now = fork_generation(), holder = 0;
    while (!compare_exchange_acquire(&list->guard, &holder, now))
        if (holder == now) {
            holder = 0;
            spinner_spin(&spinner, NULL);
        }
}

static inline void hapax_unguard(struct hapax_list *list)
{
    store_release(&list->guard, 0);
}

static inline void hapax_store(struct atomic_u32 *pair, uint64_t value)
{
    store_relaxed(&pair[0], (uint32_t)value);
    store_relaxed(&pair[1], (uint32_t)(value >> 32));
}

static inline uint64_t hapax_load(struct atomic_u32 *pair)
{
    return load_relaxed(&pair[0]) | (uint64_t)load_relaxed(&pair[1]) << 32;
}

/* A thread that waits for `value` of `lock` has to wait for `instead`. */
static inline void hapax_leave_token(struct lock *lock, uint64_t value,
                                     uint64_t instead)
{
    struct waiter *token = waiter_take();
    token->lock = lock;
    hapax_store(&token->more[0], value);
    hapax_store(&token->more[2], instead);
    struct hapax_list *list = hapax_list_of(lock);
    hapax_guard(list);
    store_relaxed(&token->next, load_relaxed(&list->first));
    store_relaxed(&list->first, token->link.id);
    hapax_unguard(list);
}

/* Removes the token of `value`, if there is one, and stores its value in `*instead`. */
static inline bool hapax_take_token(struct lock *lock, uint64_t value,
                                    uint64_t *instead)
{
    struct hapax_list *list = hapax_list_of(lock);
    if (likely(!load_relaxed(&list->first)))
        return false;
    hapax_guard(list);
    struct atomic_u32 *link = &list->first;
    struct waiter *token = NULL;
    for (uint32_t id; (id = load_relaxed(link)) != 0; link = &token->next) {
        token = waiter_at(id);
        if (token->lock == lock && hapax_load(&token->more[0]) == value)
            break;
    }
    bool found = load_relaxed(link) != 0;
    if (found) {
        *instead = hapax_load(&token->more[2]);
        store_relaxed(link, load_relaxed(&token->next));
    }
    hapax_unguard(list);
    if (found)
        waiter_give(token);
    return found;
}

#endif
