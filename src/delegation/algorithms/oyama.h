/* SPDX-License-Identifier: MIT */
/*
 * Oyama's method: a lock whose holder also executes the sections of those who find it
 * held. Y. Oyama, K. Taura, A. Yonezawa, "Executing parallel programs with
 * synchronization bottlenecks efficiently", PDSIA 1999.
 *
 * Idea: a thread that finds the object free executes its section in place. Others push
 * their calls on a stack, in the same word. The holder takes the whole stack by one
 * exchange, and executes it; it frees the object only while the stack is empty.
 *
 *   word  0 free; OYAMA_HELD; or the id of the last call pushed, while held
 *   next  of a call on the stack: the one below it, or OYAMA_HELD
 *
 * O1. The object is free exactly when word == 0. Only its holder stores 0 or takes the
 *     stack.
 * O2. All calls of a stack are executed before those of the next: no call waits for
 *     ever. Within a stack, the last one comes first.
 *
 * In the paper a holder goes on for as long as others arrive. Here it passes the rest
 * of its stack on after COMBINED_MOST sections, to the thread of the first call of the
 * rest, which finds the others by `next`.
 *
 * A push (release) pairs with the exchange that takes the stack (acquire); the store of
 * 0 (release) with the exchange that finds the object free (acquire).
 */
#ifndef HASP_DELEGATION_ALGORITHMS_OYAMA_H
#define HASP_DELEGATION_ALGORITHMS_OYAMA_H

#include "delegation/call.h"
#include "delegation/delegate.h"

#define OYAMA_HELD UINT32_MAX /* never the id of a call */

static inline bool oyama_init(struct delegate *delegate)
{
    (void)delegate; /* zeroed memory is a free object */
    return true;
}

/* Frees the object and returns OYAMA_HELD, or returns the stack. */
static inline uint32_t oyama_leave(struct delegate *delegate)
{
    if (release_if(&delegate->word, OYAMA_HELD, 0))
        return OYAMA_HELD;
    return exchange_acquire(&delegate->word, OYAMA_HELD);
}

/* The caller has executed one section. Executes the calls from `id` on, and those that
 * are pushed meanwhile; frees the object or passes it on. */
static inline void oyama_serve(struct delegate *delegate, uint32_t id)
{
    struct wakes wakes;
    uint32_t served = 1, counted = 0;
    wakes_begin(&wakes, &delegate->progress, &delegate->progress.parkers);
    for (;;) {
        while (id != OYAMA_HELD && served < COMBINED_MOST) {
            struct call *call = call_at(id);
            id = load_relaxed(&call->next);
            if (id != OYAMA_HELD)
                prefetch_for_write(&call_at(id)->cell);
            call_execute(call);
            served++;
            progress_show(&delegate->progress, served);
            call_finish(call, &wakes);
        }
        delegate_count(delegate, served - counted);
        counted = served;
        if (id != OYAMA_HELD) {
            call_pass(call_at(id), true);
            break;
        }
        id = oyama_leave(delegate);
        if (id == OYAMA_HELD)
            break;
    }
    wakes_end(&wakes);
}

/* Pushes the call unless the object is free; returns false if the caller has it now. */
static inline bool oyama_push(struct delegate *delegate, struct call *own)
{
    uint32_t seen = load_relaxed(&delegate->word);
    for (;;) {
        if (seen == 0) {
            if (compare_exchange_acquire(&delegate->word, &seen, OYAMA_HELD))
                return false;
        } else {
            store_relaxed(&own->next, seen);
            if (compare_exchange_release(&delegate->word, &seen, own->link.id))
                return true;
        }
    }
}

static inline void *oyama_run(struct delegate *delegate, void *(*section)(void *),
                              void *context, enum waiting waiting)
{
    void *result;
    if (acquire_if(&delegate->word, 0, OYAMA_HELD)) {
        result = section(context);
        oyama_serve(delegate, OYAMA_HELD);
        return result;
    }
    struct call *own = call_take();
    call_ask(own, section, context);
    if (!oyama_push(delegate, own)) {
        call_execute(own);
        oyama_serve(delegate, OYAMA_HELD);
    } else if (call_wait(own, waiting, &delegate->progress) == CALL_COMBINES) {
        call_execute(own);
        oyama_serve(delegate, load_relaxed(&own->next));
    }
    result = call_result(own);
    call_give(own);
    return result;
}

static inline void oyama_destroy(struct delegate *delegate)
{
    (void)delegate; /* a free object has no call */
}

#endif
