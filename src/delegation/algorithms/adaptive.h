/* SPDX-License-Identifier: MIT */
/*
 * Adaptive: in place under a lock while nobody waits, by a combining queue otherwise.
 * J. Lozi et al., "Remote core locking", USENIX ATC 2012, leave that to future work;
 * the queue is that of cc_synch.h.
 *
 * Idea: a thread that finds the lock free takes it and executes its section itself, as
 * with any lock. Others queue. The first of the queue takes the lock and executes the
 * requests of all; while it wants the lock, nobody else takes it. The queue remains in
 * use until a thread was alone in it.
 *
 *   tail  of the queue
 *   word  the lock: 0 free, 1 held, 2 held while the combiner may be asleep
 *   busy  1 while a combiner wants or holds the lock
 *
 * A1. A thread executes sections while it holds the lock.
 * A2. The queue has one combiner (Q2), which passes that duty on after it has released
 *     the lock. So at most one thread waits for the lock.
 *
 * `busy` is a hint, in a line that is seldom written. The release of the lock pairs
 * with its acquire.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_ADAPTIVE_H
#define HASP_DELEGATION_ALGORITHMS_ADAPTIVE_H

#include "delegation/algorithms/cc_synch.h"

enum { ADAPTIVE_FREE, ADAPTIVE_HELD, ADAPTIVE_SLEEPER };

static inline bool adaptive_init(struct delegate *delegate)
{
    cc_queue_init(&delegate->tail);
    return true;
}

static inline void adaptive_release(struct delegate *delegate)
{
    if (unlikely(exchange_release(&delegate->word, ADAPTIVE_FREE) == ADAPTIVE_SLEEPER))
        unpark(&delegate->word, 1);
}

/* The combiner waits for a thread that executes its section in place. */
static inline void adaptive_acquire(struct delegate *delegate)
{
    if (!load_relaxed(&delegate->busy))
        store_relaxed(&delegate->busy, 1);
    for (uint32_t left = spin_limit(); left; left -= relax_at_most(left))
        if (!load_relaxed(&delegate->word) &&
            acquire_if(&delegate->word, ADAPTIVE_FREE, ADAPTIVE_HELD))
            return;
    while (exchange_acquire(&delegate->word, ADAPTIVE_SLEEPER) != ADAPTIVE_FREE)
        park(&delegate->word, ADAPTIVE_SLEEPER, NULL);
}

static __attribute__((noinline, unused)) void *
adaptive_queue(struct delegate *delegate, void *(*section)(void *), void *context,
               enum waiting waiting)
{
    struct call *own = cc_queue_ask(&delegate->tail, section, context);
    if (call_wait(own, waiting, &delegate->progress) == CALL_COMBINES) {
        struct wakes wakes;
        uint32_t served;
        wakes_begin(&wakes, &delegate->progress);
        adaptive_acquire(delegate);
        struct call *following =
            cc_queue_serve(own, &wakes, &delegate->progress, &served);
        delegate_count(delegate, served);
        if (served == 1 && !load_relaxed(&following->next))
            store_relaxed(&delegate->busy, 0);
        adaptive_release(delegate);
        call_pass(following);
        wakes_end(&wakes);
    }
    return cc_queue_end(own);
}

static inline void *adaptive_run(struct delegate *delegate, void *(*section)(void *),
                                 void *context, enum waiting waiting)
{
    if (likely(!load_relaxed(&delegate->busy)) &&
        likely(acquire_if(&delegate->word, ADAPTIVE_FREE, ADAPTIVE_HELD))) {
        void *result = section(context);
        delegate_count(delegate, 1);
        adaptive_release(delegate);
        return result;
    }
    return adaptive_queue(delegate, section, context, waiting);
}

static inline void adaptive_destroy(struct delegate *delegate)
{
    cc_queue_destroy(&delegate->tail);
}

#endif
