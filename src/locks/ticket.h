/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock. D. Reed, R. Kanodia, "Synchronization with eventcounts and sequencers",
 * CACM 1979; J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on
 * shared-memory multiprocessors", TOCS 1991.
 *
 * Idea: draw a number, wait until it is served.
 *
 *   next     the number that the next arrival draws
 *   serving  the number whose turn it is
 *   left     id of the first token of a number that was given up, 0 none
 *
 * I1. next - serving threads hold, wait for, or have left a ticket; free is next ==
 *     serving.
 * I2. Only the holder of the ticket being served writes `serving`: the lock's holder,
 *     or the one thread that has that ticket's token in its hands. A token is on the
 *     list or in the hands of the single thread that took the whole list with one
 *     exchange (pass_left_tickets).
 * I3. A waiter looks through the list again and again, so a token that is put there
 *     after its number came up is found; with no waiter, the next arrival finds it.
 *
 * The store of `serving` (release) pairs with the waiters' loads of it (acquire).
 *
 * Timed lock: the published lock cannot give a number up. Here a timed-out waiter
 * leaves its number on a list in the lock, and whoever waits or arrives while a number
 * on that list is being served passes it on in its stead. By I2 one thread at most does
 * so, by I3 one will.
 */
#ifndef HASP_LOCKS_TICKET_H
#define HASP_LOCKS_TICKET_H

#include "locks/ghosts.h"
#include "locks/waiting.h"

enum { TURNS_PER_LOOK = 16 };

struct ticket {
    struct atomic_u32 next, serving;
    struct atomic_u32 left; /* id of the first token (a waiter with .ticket), 0 none */
};

static inline struct ticket *ticket_of(struct lock *lock)
{
    return (struct ticket *)lock->state;
}

static inline void ticket_forget(struct lock *lock, bool held)
{
    struct ticket *ticket = ticket_of(lock);
    uint32_t serving = load_relaxed(&ticket->serving);
    if (load_relaxed(&ticket->next) - serving < 2)
        return; /* free, or held: at most the holder is a ghost */
    store_relaxed(&ticket->left, 0);
    store_release(&ticket->next, serving + held);
}

static inline void ticket_before_release(struct lock *lock)
{
    ghosts_check_holder(lock, ticket_forget);
}

/* Takes the token of `served` off the private list; returns it or NULL. */
static inline struct waiter *take_token(uint32_t *list, uint32_t served)
{
    struct waiter *before = NULL;
    for (uint32_t id = *list; id;) {
        struct waiter *token = waiter_at(id);
        id = load_relaxed(&token->next);
        if (token->ticket == served) {
            if (before)
                store_relaxed(&before->next, id);
            else
                *list = id;
            return token;
        }
        before = token;
    }
    return NULL;
}

/* Passes on every left ticket that is being served. */
static __attribute__((noinline, unused)) void pass_left_tickets(struct ticket *ticket)
{
    uint32_t list = exchange_acq_rel(&ticket->left, 0);
    struct waiter *token;
    uint32_t serving = load_acquire(&ticket->serving);
    while ((token = take_token(&list, serving))) {
        store_release(&ticket->serving, ++serving);
        waiter_give(token);
    }
    while (list) { /* the others go back, one at a time: the list is short and rare */
        struct waiter *rest = waiter_at(list);
        list = load_relaxed(&rest->next);
        uint32_t head = load_relaxed(&ticket->left);
        do
            store_relaxed(&rest->next, head);
        while (!compare_exchange_acq_rel(&ticket->left, &head, rest->link.id));
    }
}

static inline bool ticket_fast(struct lock *lock)
{
    struct ticket *ticket = ticket_of(lock);
    uint32_t serving = load_relaxed(&ticket->serving);
    return load_relaxed(&ticket->next) == serving &&
           acquire_if(&ticket->next, serving, serving + 1);
}

static inline bool ticket_trylock(struct lock *lock)
{
    struct ticket *ticket = ticket_of(lock);
    if (likely(ticket_fast(lock)))
        return true;
    if (likely(!load_relaxed(&ticket->left)) || load_relaxed(&lock->word))
        return false;
    pass_left_tickets(ticket);
    return ticket_fast(lock);
}

static __attribute__((noinline, unused)) bool
ticket_wait(struct lock *lock, const struct deadline *deadline)
{
    ghosts_check(lock, ticket_forget);
    struct ticket *ticket = ticket_of(lock);
    uint32_t mine = fetch_add_relaxed(&ticket->next, 1);
    struct spinner spinner = {0, 0};
    uint32_t turn = 0;
    while (load_acquire(&ticket->serving) != mine) {
        /* While somebody holds the lock, no token's number is being served. */
        if (unlikely(load_relaxed(&ticket->left) != 0) && !load_relaxed(&lock->word) &&
            ++turn % TURNS_PER_LOOK == 0) {
            pass_left_tickets(ticket);
            continue;
        }
        if (!spinner_turn(&spinner, deadline)) {
            struct waiter *gone = waiter_take();
            gone->ticket = mine;
            uint32_t head = load_relaxed(&ticket->left);
            do
                store_relaxed(&gone->next, head);
            while (!compare_exchange_acq_rel(&ticket->left, &head, gone->link.id));
            return false;
        }
    }
    return true;
}

static inline bool ticket_timedlock(struct lock *lock, const struct deadline *deadline)
{
    return ticket_trylock(lock) || ticket_wait(lock, deadline);
}

static inline void ticket_lock(struct lock *lock)
{
    if (!ticket_fast(lock))
        ticket_wait(lock, NULL);
}

static inline void ticket_unlock(struct lock *lock)
{
    struct ticket *ticket = ticket_of(lock);
    store_release(&ticket->serving, load_relaxed(&ticket->serving) + 1);
    release_window();
}

/* Nobody uses the lock any more: give the tokens back. */
static inline void ticket_destroy(struct lock *lock)
{
    uint32_t list = exchange_acquire(&ticket_of(lock)->left, 0);
    while (list) {
        struct waiter *token = waiter_at(list);
        list = load_relaxed(&token->next);
        waiter_give(token);
    }
}

#endif
