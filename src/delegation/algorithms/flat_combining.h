/* SPDX-License-Identifier: MIT */
/*
 * Flat combining. D. Hendler, I. Incze, N. Shavit, M. Tzafrir, "Flat combining and the
 * synchronization-parallelism tradeoff", SPAA 2010.
 *
 * Idea: whoever finds the object's latch free takes it, and executes its section and
 * the requests of all lines (lines.h), several times if there are many. The others
 * write their requests into lines, and only read their own line and the latch.
 *
 *   word      the latch: FREE, TAKEN, or MISSES: taken, and the combiner may miss a
 *             request that is PARKED
 *   sleepers  the number of threads that sleep, or are about to, with a request (K3)
 *   asked     1 if a search may find requests
 *
 * F1. A thread executes sections only while it has the latch.
 * F2. A thread sleeps only after it has made its cell PARKED, and then changed the
 *     latch from taken to MISSES (release). The combiner frees the latch by an exchange
 *     (which acquires that). If it finds MISSES, it wakes a thread that it has missed:
 *     that one is awake until its request has been executed, by a combiner that took
 *     the latch later, and so sees all others that were missed, too.
 *
 * A search fetches the line of each thread that has written a request since the last
 * one. So on few CPUs, threads that ask set `asked`, a search resets it, and a thread
 * that has executed its own section searches only if it is set. That is a hint: one
 * that nobody finds takes the latch itself once it is free. On many CPUs it is always
 * 1, because a store would take the line of the latch from all threads that wait.
 *
 * The exchange that frees the latch (release) pairs with the one that takes it.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_FLAT_COMBINING_H
#define HASP_DELEGATION_ALGORITHMS_FLAT_COMBINING_H

#include "delegation/algorithms/lines.h"

enum { LATCH_FREE, LATCH_TAKEN, LATCH_MISSES };

/* Returns whether `asked` is a hint. */
static inline bool flat_combining_hints(const struct delegate *delegate)
{
    return MODEL_CHECKED || delegate->progress.exact;
}

static inline bool flat_combining_init(struct delegate *delegate)
{
    lines_init(&delegate->lines, delegate->clusters,
               MODEL_CHECKED ? 2 : CLUSTERS_MOST, 1);
    store_relaxed(&delegate->asked, !flat_combining_hints(delegate));
    return true;
}

/* Executes the requests of all lines, of which one may be the caller's own. Returns
 * their number. */
static inline uint32_t lines_serve(struct delegate *delegate, const struct call *own,
                                   struct wakes *wakes)
{
    const struct lines *lines = &delegate->lines;
    const uint32_t ahead = lines->ahead;
    uint32_t served = 0;
    const uint32_t count = lines_count(lines);
    for (uint32_t index = 0; index < count; index++) {
        struct call *line = line_at(lines, index);
        if (ahead && index + ahead < count)
            line_fetch(lines, index + ahead, true);
        if (!line || !still_waiting(load_acquire(&line->cell)))
            continue;
        call_execute(line);
        progress_show(&delegate->progress, ++served);
        if (line == own)
            store_relaxed(&line->cell, CALL_DONE);
        else
            call_finish(line, wakes);
    }
    return served;
}

/* Returns whether to search again after a search that found `last` requests. */
static inline bool flat_combining_repeats(const struct delegate *delegate,
                                          uint32_t last)
{
    return flat_combining_hints(delegate) ? load_relaxed(&delegate->asked) : last > 1;
}

/* Executes requests for as long as there are more, or several. The caller has executed
 * `served` sections. */
static inline void flat_combining_serve(struct delegate *delegate,
                                        const struct call *own, struct wakes *wakes,
                                        uint32_t served)
{
    uint32_t last;
    do {
        if (flat_combining_hints(delegate))
            store_relaxed(&delegate->asked, 0);
        last = lines_serve(delegate, own, wakes);
        served += last;
    } while (flat_combining_repeats(delegate, last) && served < COMBINED_MOST);
    delegate_count(delegate, served);
}

/* Wakes a thread whose request the caller has missed. */
static __attribute__((noinline, unused)) void
flat_combining_wake(struct delegate *delegate)
{
    const uint32_t count = lines_count(&delegate->lines);
    for (uint32_t index = 0; index < count; index++) {
        struct call *line = line_at(&delegate->lines, index);
        uint32_t seen = CALL_PARKED;
        if (line && load_relaxed(&line->cell) == CALL_PARKED &&
            compare_exchange_relaxed(&line->cell, &seen, CALL_WAITING)) {
            unpark(&line->cell, 1);
            return;
        }
    }
}

static inline bool flat_combining_latch(struct delegate *delegate)
{
    return load_relaxed(&delegate->word) == LATCH_FREE &&
           acquire_if(&delegate->word, LATCH_FREE, LATCH_TAKEN);
}

static inline void flat_combining_free(struct delegate *delegate)
{
    if (unlikely(exchange_acq_rel(&delegate->word, LATCH_FREE) == LATCH_MISSES))
        flat_combining_wake(delegate);
}

static inline void flat_combining_unlatch(struct delegate *delegate,
                                          struct wakes *wakes)
{
    flat_combining_free(delegate);
    wakes_end(wakes);
}

/* The caller has the latch, and has executed its own section. */
static __attribute__((noinline, unused)) void
flat_combining_end(struct delegate *delegate)
{
    struct wakes wakes;
    wakes_begin(&wakes, &delegate->progress, &delegate->sleepers);
    flat_combining_serve(delegate, NULL, &wakes, 1);
    flat_combining_unlatch(delegate, &wakes);
}

/* The caller has the latch, and no line. There are none before two threads meet. */
static inline void *flat_combining_in_place(struct delegate *delegate,
                                            void *(*section)(void *), void *context)
{
    void *result = section(context);
    if (load_relaxed(&delegate->asked) && load_relaxed(&delegate->lines.count)) {
        flat_combining_end(delegate);
        return result;
    }
    delegate_count(delegate, 1);
    flat_combining_free(delegate);
    return result;
}

/* Combines if the latch is free; the caller's own request is executed then, unless
 * somebody else has done that. */
static inline void flat_combining_try(struct delegate *delegate, struct call *own)
{
    struct wakes wakes;
    if (!flat_combining_latch(delegate))
        return;
    wakes_begin(&wakes, &delegate->progress, &delegate->sleepers);
    if (still_waiting(load_relaxed(&own->cell)))
        flat_combining_serve(delegate, own, &wakes, 0);
    flat_combining_unlatch(delegate, &wakes);
}

/* Returns true if the request has been executed, or if the latch is free. */
static inline bool flat_combining_goes_on(struct delegate *delegate,
                                          const struct call *own)
{
    return !still_waiting(load_relaxed(&own->cell)) ||
           load_relaxed(&delegate->word) == LATCH_FREE;
}

/* The caller's request is PARKED. Returns false if nobody combines. */
static inline bool flat_combining_is_missed(struct delegate *delegate)
{
    uint32_t latch = load_relaxed(&delegate->word);
    while (latch != LATCH_FREE)
        if (compare_exchange_release(&delegate->word, &latch, LATCH_MISSES))
            return true;
    return false;
}

/* Sleeps while another thread combines. */
static __attribute__((noinline, unused)) void
flat_combining_sleep(struct delegate *delegate, struct call *own)
{
    uint32_t seen = CALL_WAITING;
    call_parks(&delegate->sleepers);
    if (compare_exchange_relaxed(&own->cell, &seen, CALL_PARKED)) {
        seen = CALL_PARKED;
        if (!flat_combining_is_missed(delegate))
            compare_exchange_relaxed(&own->cell, &seen, CALL_WAITING);
        while (load_relaxed(&own->cell) == CALL_PARKED)
            park(&own->cell, CALL_PARKED, NULL);
    }
    call_woken(&delegate->sleepers);
}

static inline void flat_combining_wait(struct delegate *delegate, struct call *own,
                                       enum waiting waiting)
{
    struct spinner spinner = {0, 0};
    struct progress_view view = {0, 0};
    uint32_t left = spin_limit();
    while (!flat_combining_goes_on(delegate, own)) {
        if (!may_park(waiting)) {
            spinner_spin(&spinner, NULL);
        } else if (left) {
            left -= relax_at_most(left);
        } else if (progress_goes_on(&view, &delegate->progress)) {
            left = spin_limit();
        } else {
            flat_combining_sleep(delegate, own);
            return;
        }
    }
}

static __attribute__((noinline, unused)) void *
flat_combining_ask(struct delegate *delegate, void *(*section)(void *), void *context,
                   enum waiting waiting)
{
    struct call *own = line_take(&delegate->lines);
    line_ask(own, section, context);
    if (!load_relaxed(&delegate->asked))
        store_relaxed(&delegate->asked, 1);
    flat_combining_try(delegate, own);
    while (still_waiting(load_acquire(&own->cell))) {
        flat_combining_wait(delegate, own, waiting);
        flat_combining_try(delegate, own);
    }
    return line_end(own);
}

static inline void *flat_combining_run(struct delegate *delegate,
                                       void *(*section)(void *), void *context,
                                       enum waiting waiting)
{
    if (likely(flat_combining_latch(delegate)))
        return flat_combining_in_place(delegate, section, context);
    return flat_combining_ask(delegate, section, context, waiting);
}

static inline void flat_combining_destroy(struct delegate *delegate)
{
    lines_destroy(&delegate->lines);
}

#endif
