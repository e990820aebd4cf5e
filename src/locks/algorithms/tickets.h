/* SPDX-License-Identifier: MIT */
/*
 * The common part of all ticket locks: drawing a number, and giving one up. Each kind
 * defines how a number is announced as served, and how a waiter waits for that.
 *
 * `serving` is the number being served, in every kind; only the holder of that number
 * writes it. A kind may have a further store after that one, for which its waiters
 * wait, too.
 *
 * Numbers that timed-out waiters gave up are called left. If such a number is the last
 * one drawn, it is simply taken back. For any other number, a token remains on a list
 * in the lock, and a thread that waits or arrives while the number is being served
 * passes it on in place of the leaver.
 */
#ifndef HASP_LOCKS_ALGORITHMS_TICKETS_H
#define HASP_LOCKS_ALGORITHMS_TICKETS_H

#include "locks/memory/fork_repair.h"
#include "locks/memory/handed_body.h"
#include "locks/waiting/policies.h"

/* Approximate number of tokens on a lock's list beyond which a timed waiter does not
 * draw a number, but retries its trylock until there are fewer. */
enum { TOKENS_MOST = 64 };

struct tickets {
    struct atomic_u32 next, serving;
    struct atomic_u32 left; /* id of the first token (a waiter with .ticket), 0 if
                             * none */
};

struct ticket_kind {
    /* Returns true if the number is being served (acquire). */
    bool (*served)(struct lock *, uint32_t number);
    /* Called by the holder of the previous number; this is the release. It does not
     * touch the lock after the store that announces the number. */
    void (*serve)(struct lock *, uint32_t number);
    /* Spins for a while, waiting for the number; returns false if the deadline has
     * passed. */
    bool (*spin)(struct lock *, uint32_t number, struct spinner *,
                 const struct deadline *);
    /* Number of calls of spin() between two checks of the list of tokens. */
    uint32_t spins_per_check;
    void (*forget)(struct lock *, bool held);
};

static inline struct tickets *tickets_of(struct lock *lock)
{
    return (struct tickets *)lock->state;
}

/* The default for `served`: one word for all. Pairs with the release store in
 * `serve`. */
static inline bool tickets_served(struct lock *lock, uint32_t number)
{
    return load_acquire(&tickets_of(lock)->serving) == number;
}

static inline __attribute__((always_inline)) void
tickets_forget(struct lock *lock, bool held, const struct ticket_kind *kind)
{
    struct tickets *tickets = tickets_of(lock);
    /* If no thread of the parent is queued, one live thread may draw a number
     * meanwhile, and with it acquire the lock; no thread serves the next number before
     * the repair. */
    uint32_t next = load_relaxed(&tickets->next);
    if ((int32_t)(next - load_relaxed(&tickets->serving)) < 2)
        return; /* free, or held: only the holder can belong to the parent */
    store_relaxed(&tickets->left, 0);
    kind->serve(lock, next - held);
}

static inline uint32_t tokens_left(struct tickets *tickets)
{
    uint32_t first = load_relaxed(&tickets->left);
    /* This is an estimate, because the waiter may belong to another thread by now. */
    return first ? load_relaxed(&waiter_at(first)->more[0]) : 0;
}

static inline void push_token(struct tickets *tickets, struct waiter *token)
{
    uint32_t first = load_relaxed(&tickets->left);
    do {
        store_relaxed(&token->next, first);
        store_relaxed(&token->more[0], tokens_left(tickets) + 1);
    } while (!compare_exchange_release(&tickets->left, &first, token->link.id));
}

/* Passes a left number on, or takes it back; returns true if either was possible. */
static inline __attribute__((always_inline)) bool
retire_token(struct lock *lock, uint32_t number, const struct ticket_kind *kind)
{
    uint32_t drawn = number + 1;
    if (!kind->served(lock, number))
        return compare_exchange_relaxed(&tickets_of(lock)->next, &drawn, number);
    kind->serve(lock, number + 1);
    return true;
}

/* Retires every token that can be retired, in the order in which that becomes
 * possible. */
static inline __attribute__((always_inline)) void
retire_tokens(struct lock *lock, const struct ticket_kind *kind)
{
    struct tickets *tickets = tickets_of(lock);
    uint32_t list = exchange_acquire(&tickets->left, 0), before = 0, id = list;
    while (id) {
        struct waiter *token = waiter_at(id);
        uint32_t after = load_relaxed(&token->next);
        if (retire_token(lock, token->ticket, kind)) {
            if (before)
                store_relaxed(&waiter_at(before)->next, after);
            else
                list = after;
            waiter_give(token);
            before = 0;
            id = list; /* its neighbour may be retirable now */
        } else {
            before = id;
            id = after;
        }
    }
    while (list) {
        struct waiter *rest = waiter_at(list);
        list = load_relaxed(&rest->next);
        push_token(tickets, rest);
    }
}

/* Gives up a number. */
static inline __attribute__((always_inline)) void
tickets_leave(struct lock *lock, uint32_t number, const struct ticket_kind *kind)
{
    struct tickets *tickets = tickets_of(lock);
    uint32_t drawn = number + 1;
    if (compare_exchange_relaxed(&tickets->next, &drawn, number)) {
        if (load_relaxed(&tickets->left))
            retire_tokens(lock, kind); /* the number before it may be the last one
                                        * now */
        return;
    }
    struct waiter *token = waiter_take();
    token->ticket = number;
    push_token(tickets, token);
}

static inline __attribute__((always_inline)) bool
tickets_fast(struct lock *lock, const struct ticket_kind *kind)
{
    struct tickets *tickets = tickets_of(lock);
    /* The line is about to be written; a plain load would fetch it a second time. */
    prefetch_for_write(&tickets->next);
    /* Reads `serving`, not `next`: a load of `next` would wait for its last
     * exchange. */
    uint32_t serving = load_acquire(&tickets->serving);
    return (kind->served == tickets_served || kind->served(lock, serving)) &&
           acquire_if(&tickets->next, serving, serving + 1);
}

/* Does the same but writes nothing if it fails. */
static inline __attribute__((always_inline)) bool
tickets_try(struct lock *lock, const struct ticket_kind *kind)
{
    struct tickets *tickets = tickets_of(lock);
    return load_relaxed(&tickets->next) == load_relaxed(&tickets->serving) &&
           tickets_fast(lock, kind);
}

/* Called after tickets_try. While the lock is held, no left number is being served. */
static inline __attribute__((always_inline)) bool
tickets_retry(struct lock *lock, const struct ticket_kind *kind)
{
    if (!load_relaxed(&tickets_of(lock)->left) || load_relaxed(&lock->word))
        return false;
    fork_repair_if_due(lock, kind->forget); /* a token may announce a number */
    retire_tokens(lock, kind);
    return tickets_try(lock, kind);
}

/* Waits until drawing a number is allowed; returns true if that acquired the lock. */
static inline __attribute__((always_inline)) bool
tickets_enter(struct lock *lock, const struct ticket_kind *kind,
              struct spinner *spinner, const struct deadline *deadline)
{
    while (tokens_left(tickets_of(lock)) >= TOKENS_MOST) {
        if (tickets_try(lock, kind) || tickets_retry(lock, kind))
            return true;
        if (!spinner_spin(spinner, deadline))
            return false;
    }
    return false;
}

/* at_once: a thread may draw its number first and record the generation afterwards. */
static inline __attribute__((always_inline)) bool
tickets_wait(struct lock *lock, const struct ticket_kind *kind, bool at_once,
             const struct deadline *deadline)
{
    bool unforked = at_once && !is_forked_child();
    if (!unforked)
        fork_repair_if_due(lock, kind->forget);
    struct tickets *tickets = tickets_of(lock);
    struct spinner spinner = {0, 0};
    if (deadline && unlikely(tokens_left(tickets) >= TOKENS_MOST)) {
        if (tickets_enter(lock, kind, &spinner, deadline))
            return true;
        if (deadline_passed(deadline))
            return false;
    }
    /* Release: a holder that sees the number sees that its owner may give up. */
    uint32_t mine = fetch_add_release(&tickets->next, 1), spins = 0;
    bool waits = !kind->served(lock, mine);
    expect_wait(waits);
    if (!waits)
        return true;
    if (unforked)
        fork_repair_after_queueing(lock);
    do {
        if (unlikely(load_relaxed(&tickets->left) != 0) && !load_relaxed(&lock->word) &&
            ++spins % kind->spins_per_check == 0) {
            retire_tokens(lock, kind);
            if (kind->served(lock, mine))
                return true;
        }
        if (!kind->spin(lock, mine, &spinner, deadline)) {
            tickets_leave(lock, mine, kind);
            return false;
        }
    } while (!kind->served(lock, mine));
    return true;
}

/* Called by the holder: returns true if a thread waits (acquire). */
static inline bool tickets_queued(struct lock *lock)
{
    struct tickets *tickets = tickets_of(lock);
    return load_acquire(&tickets->next) - load_relaxed(&tickets->serving) > 1;
}

/* Releases the lock and its body. */
static inline __attribute__((always_inline)) void
tickets_release(struct lock *lock, const struct ticket_kind *kind)
{
    struct tickets *tickets = tickets_of(lock);
    uint32_t mine = load_relaxed(&tickets->serving);
    /* The acquire sees how those who have drawn wait. The generation comes first,
     * because a load of `next` waits for its last exchange. */
    bool queued = unlikely(load_relaxed(&lock->generation) != 0) &&
                  load_acquire(&tickets->next) - mine > 1;
    handed_body_release(lock, queued);
    kind->serve(lock, mine + 1);
}

/* Gives the tokens back. No thread may use the lock any more. */
static inline void tickets_destroy(struct lock *lock)
{
    struct atomic_u32 *left = &tickets_of(lock)->left;
    uint32_t list = load_relaxed(left) ? exchange_relaxed(left, 0) : 0;
    while (unlikely(list != 0)) {
        struct waiter *token = waiter_at(list);
        list = load_relaxed(&token->next);
        waiter_give(token);
    }
}

/* Defines the functions of the lock `prefix`, given prefix_serve and prefix_spin.
 * few_watch: few waiters watch the line of the lock. Then a holder fetches it at once
 * for writing; otherwise that would take it from all waiters once more. */
#define DEFINE_TICKET_LOCK(prefix, how_served, interval, few_watch)                    \
    static inline void prefix##_forget(struct lock *lock, bool held);                  \
    static const struct ticket_kind prefix##_kind = {                                  \
        .served = how_served,                                                          \
        .serve = prefix##_serve,                                                       \
        .spin = prefix##_spin,                                                         \
        .spins_per_check = interval,                                                   \
        .forget = prefix##_forget,                                                     \
    };                                                                                 \
    static inline void prefix##_forget(struct lock *lock, bool held)                   \
    {                                                                                  \
        tickets_forget(lock, held, &prefix##_kind);                                    \
    }                                                                                  \
    static inline void prefix##_before_release(struct lock *lock)                      \
    {                                                                                  \
        fork_repair_in_child(lock, prefix##_forget);                                   \
    }                                                                                  \
    static inline bool prefix##_fast(struct lock *lock)                                \
    {                                                                                  \
        return tickets_fast(lock, &prefix##_kind);                                     \
    }                                                                                  \
    static __attribute__((noinline, unused)) bool prefix##_retry(struct lock *lock)    \
    {                                                                                  \
        return tickets_retry(lock, &prefix##_kind);                                    \
    }                                                                                  \
    static inline bool prefix##_trylock(struct lock *lock)                             \
    {                                                                                  \
        return tickets_try(lock, &prefix##_kind) ||                                    \
               (unlikely(load_relaxed(&tickets_of(lock)->left) != 0) &&                \
                prefix##_retry(lock));                                                 \
    }                                                                                  \
    static __attribute__((noinline, unused)) bool prefix##_wait(                       \
        struct lock *lock, const struct deadline *deadline)                            \
    {                                                                                  \
        return tickets_wait(lock, &prefix##_kind, false, deadline);                    \
    }                                                                                  \
    static __attribute__((noinline, unused)) void prefix##_queue(struct lock *lock)    \
    {                                                                                  \
        tickets_wait(lock, &prefix##_kind, true, NULL);                                \
    }                                                                                  \
    static inline bool prefix##_timedlock(struct lock *lock,                           \
                                          const struct deadline *deadline)             \
    {                                                                                  \
        return prefix##_trylock(lock) || prefix##_wait(lock, deadline);                \
    }                                                                                  \
    static inline void prefix##_lock(struct lock *lock)                                \
    {                                                                                  \
        if (!prefix##_fast(lock))                                                      \
            prefix##_wait(lock, NULL);                                                 \
    }                                                                                  \
    static inline void prefix##_unlock(struct lock *lock)                              \
    {                                                                                  \
        prefix##_serve(lock, load_relaxed(&tickets_of(lock)->serving) + 1);            \
    }                                                                                  \
    static inline void prefix##_release(struct lock *lock)                             \
    {                                                                                  \
        if (few_watch)                                                                 \
            prefetch_for_write(&lock->generation);                                     \
        tickets_release(lock, &prefix##_kind);                                         \
    }

#endif
