/* SPDX-License-Identifier: MIT */
/*
 * Lines: the calls of an object in which its executor searches for requests, in place
 * of a queue.
 *
 * A thread takes a free line for each request, usually the same one again, because it
 * begins to search at its thread id. So threads need no registration, and any number of
 * them may come and go. If all lines are in use, there is one more afterwards; no line
 * goes before the object does. Under servers, each thread whose id is less than the
 * number of CPUs adds lines until there is one at its id. While only such threads call,
 * a line moves only between its client and the server.
 *
 *   count       lines so far
 *   directories ids of lines
 *   owned       of a line: 1 while a thread uses it. Executors never read it: it is in
 *               another cache line than the request, which stays where it is wanted
 *   cell        of a line, as of any call (call.h): WAITING or PARKED, then DONE, also
 *               before the first request
 *
 * L1. A thread stores WAITING (release) after its request; the executor loads the cell
 *     (acquire) before it reads that.
 * L2. A thread that frees its line (release) has read the result; the next one takes
 *     the line by an acquire.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_LINES_H
#define HASP_DELEGATION_ALGORITHMS_LINES_H

#include "delegation/call.h"
#include "delegation/delegate.h"

enum {
    LINES_AHEAD = 4, /* that an executor fetches before it looks at them */
    LINES_EACH = MODEL_CHECKED ? 2 : POOL_PAYLOAD / sizeof(struct atomic_u32),
};

/* Ids of lines; a slot of the pool of calls. */
struct directory {
    struct atomic_u32 ids[POOL_PAYLOAD / sizeof(struct atomic_u32)];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(sizeof(struct directory) == sizeof(struct call), "it is one of them");

static inline struct atomic_u32 *line_id(const struct lines *lines,
                                         uint32_t index)
{
    struct call *directory = lines->directories[index / LINES_EACH];
    return &((struct directory *)(void *)directory)->ids[index % LINES_EACH];
}

static inline struct call *line_at(const struct lines *lines, uint32_t index)
{
    return call_at(load_relaxed(line_id(lines, index)));
}

/* Prepares `count` directories. */
static inline void lines_init(struct lines *lines, struct call **directories,
                              uint32_t count)
{
    lines->directories = directories;
    lines->most = LINES_EACH * count;
    lines->ahead = LINES_AHEAD;
    for (uint32_t index = 0; index < lines->most; index++) {
        if (index % LINES_EACH == 0)
            lines->directories[index / LINES_EACH] = call_take();
        store_relaxed(line_id(lines, index), 0);
    }
}

static inline void lines_destroy(struct lines *lines)
{
    uint32_t count = load_relaxed(&lines->count);
    for (uint32_t index = 0; index < count; index++)
        call_give(line_at(lines, index));
    for (uint32_t index = 0; index < lines->most; index += LINES_EACH)
        call_give(lines->directories[index / LINES_EACH]);
    store_relaxed(&lines->count, 0);
}

/* Adds line `count`, unless another thread does so first. */
static __attribute__((noinline, unused)) void line_add(struct lines *lines,
                                                       uint32_t count)
{
    struct call *fresh = call_take();
    uint32_t none = 0, number = count;
    store_relaxed(&fresh->cell, CALL_DONE);
    store_relaxed(&fresh->owned, 0);
    fresh->index = count;
    if (!compare_exchange_release(line_id(lines, count), &none, fresh->link.id)) {
        call_give(fresh);
        (void)load_acquire(line_id(lines, count)); /* and is published below */
    }
    compare_exchange_release(&lines->count, &number, count + 1);
}

/* Returns a line that the caller owns. */
static inline struct call *line_take(struct lines *lines)
{
    const uint32_t home = current_thread();
    for (;;) {
        uint32_t count = load_acquire(&lines->count);
        if (unlikely(count <= home) && home < lines->own && count < lines->most) {
            line_add(lines, count);
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            struct call *line = line_at(lines, (home + i) % count);
            uint32_t seen = 0;
            if (!load_relaxed(&line->owned) &&
                compare_exchange_acquire(&line->owned, &seen, 1))
                return line;
        }
        if (count < lines->most)
            line_add(lines, count);
        else
            yield();
    }
}

/* Publishes the request of a line that the caller owns. */
static inline void line_ask(struct call *line, void *(*section)(void *), void *context)
{
    call_ask(line, section, context);
    store_release(&line->cell, CALL_WAITING);
}

/* Returns the result of a line that is DONE, and frees the line. */
static inline void *line_end(struct call *line)
{
    void *result = call_result(line);
    store_release(&line->owned, 0);
    return result;
}

#endif
