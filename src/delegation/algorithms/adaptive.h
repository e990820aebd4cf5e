/* SPDX-License-Identifier: MIT */
/*
 * Adaptive: in place under a lock while nobody waits, by a combining queue otherwise.
 * J. Lozi et al., "Remote core locking", USENIX ATC 2012, leave that to future work;
 * the queue is that of cc_synch.h.
 *
 * Idea: a thread that finds the lock free takes it and executes its section itself, as
 * with any lock. Others queue. The first of the queue takes the lock and executes the
 * requests of all; while it wants the lock, nobody else takes it. With enough CPUs, the
 * queue then keeps the lock, even while it is empty, until several threads in
 * succession were alone in it. On few CPUs each combiner frees the lock: there, a
 * thread that takes it while the data is in its cache gains more than a queue does.
 *
 *   tail  of the queue
 *   word  the lock: 0 free, 1 held, 2 held while the combiner may be asleep
 *   busy  1 while a combiner wants the lock, or the queue has it
 *   kept  not 0 while the queue has the lock; half as much after a combiner that was
 *         alone
 *
 * A1. A thread executes sections while it holds the lock, or while it is the combiner
 *     of the queue (Q2) and that has the lock.
 * A2. At most one thread waits for the lock: the combiner.
 * A3. Only the combiner uses `kept`, before it passes that duty on.
 *
 * `busy` is a hint, in a line that is seldom written. The release of the lock pairs
 * with its acquire.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_ADAPTIVE_H
#define HASP_DELEGATION_ALGORITHMS_ADAPTIVE_H

#include "delegation/algorithms/cc_synch.h"

enum { ADAPTIVE_FREE, ADAPTIVE_HELD, ADAPTIVE_SLEEPER };

/* What `kept` is after a combiner that was not alone, if there are CPUs enough. */
enum { ADAPTIVE_KEEPS = MODEL_CHECKED ? 2 : 4 };

static inline bool adaptive_executor_init(struct delegate *delegate)
{
    cc_queue_init(&delegate->tail);
    return true;
}

/* Wakes the combiner that waits for the lock. Returns `result`, so that no caller need
 * save it. */
static __attribute__((noinline, unused)) void *adaptive_wake(struct delegate *delegate,
                                                             void *result)
{
    unpark(&delegate->word, 1);
    return result;
}

/* Releases the lock, and returns `result`. */
static inline void *adaptive_release(struct delegate *delegate, void *result)
{
    if (unlikely(exchange_release(&delegate->word, ADAPTIVE_FREE) == ADAPTIVE_SLEEPER))
        return adaptive_wake(delegate, result);
    return result;
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

/* Ends the hold of a combiner, which was the only one to ask or not. */
static inline void adaptive_leave(struct delegate *delegate, uint32_t kept, bool alone)
{
    const uint32_t most = delegate->progress.exact ? 0 : ADAPTIVE_KEEPS;
    const uint32_t keep = !alone ? most : (kept ? kept : most) / 2;
    if (keep != kept)
        store_relaxed(&delegate->kept, keep);
    if (keep)
        return;
    if (alone)
        store_relaxed(&delegate->busy, 0);
    adaptive_release(delegate, NULL);
}

static __attribute__((noinline, unused)) void *adaptive_queue(struct delegate *delegate,
                                                              void *(*section)(void *),
                                                              void *context,
                                                              enum waiting waiting)
{
    struct progress *progress = &delegate->progress;
    struct cc_place place;
    if (!cc_queue_enter(&delegate->tail, section, context, &place) &&
        !cc_queue_wait(place, waiting, progress))
        return cc_queue_end(place.own);
    struct wakes wakes;
    uint32_t served;
    wakes_begin(&wakes, progress, &progress->parkers);
    const uint32_t kept = load_relaxed(&delegate->kept);
    if (!kept)
        adaptive_acquire(delegate);
    void *result = cc_queue_execute(place, section, context);
    struct call *following = cc_queue_serve(place.following, &wakes, progress, &served);
    delegate_count(delegate, served);
    adaptive_leave(delegate, kept, served == 1 && !load_relaxed(&following->next));
    call_pass(following, may_park(waiting));
    wakes_end(&wakes);
    return result;
}

static inline void *adaptive_executor_run(struct delegate *delegate,
                                          void *(*section)(void *), void *context,
                                          enum waiting waiting)
{
    if (likely(!load_relaxed(&delegate->busy)) &&
        likely(acquire_if(&delegate->word, ADAPTIVE_FREE, ADAPTIVE_HELD))) {
        void *result = section(context);
        delegate_count(delegate, 1);
        return adaptive_release(delegate, result);
    }
    return adaptive_queue(delegate, section, context, waiting);
}

static inline void adaptive_executor_destroy(struct delegate *delegate)
{
    cc_queue_destroy(&delegate->tail);
}

#endif
