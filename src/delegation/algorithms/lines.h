/* SPDX-License-Identifier: MIT */
/*
 * Lines: the calls of an object in which its executor searches for requests, in place
 * of a queue.
 *
 * A thread takes a free line for each request, usually the same one again, because it
 * begins to search at a place that follows from its thread id, and adds a line there if
 * there is none. So threads need no registration, and any number of them may come and
 * go. If all lines are in use, a thread adds one, which it has at once; no line goes
 * before the object does. Under servers, threads begin to search at as many places as
 * there are CPUs: while there are no more threads, and their ids are consecutive, each
 * has a line of its own, which moves only between it and the server. With flat
 * combining, only a thread that finds its line in use adds one: the combiner searches
 * all lines, so there should be few where requests seldom collide.
 *
 *   count       places so far; the line of a place may follow later
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
 * L3. A thread stores a new line's id (release) after the line; others load it
 *     (acquire).
 *
 * A thread that appends a line gets its place by one increment of `count`. So threads
 * that arrive together search the lines once each, and none waits for another.
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

/* Returns the line at this place, or NULL if there is none yet (L3). */
static inline struct call *line_at(const struct lines *lines, uint32_t index)
{
    const uint32_t id = load_acquire(line_id(lines, index));
    return likely(id) ? call_at(id) : NULL;
}

/* Returns the number of places that may have a line. */
static inline uint32_t lines_count(const struct lines *lines)
{
    const uint32_t count = load_relaxed(&lines->count);
    return likely(count < lines->most) ? count : lines->most;
}

/* Prefetches the request at this place, for writing if the caller will answer it. */
static inline void line_fetch(const struct lines *lines, uint32_t index, bool answers)
{
    const struct call *line = line_at(lines, index);
    if (line && answers)
        prefetch_for_write(&line->cell);
    else if (line)
        prefetch_for_read(&line->cell);
}

/* Prepares `count` directories. `own`, not 0: the number of places at which threads
 * begin to search, however few lines there are. */
static inline void lines_init(struct lines *lines, struct call **directories,
                              uint32_t count, uint32_t own)
{
    lines->directories = directories;
    lines->most = LINES_EACH * count;
    lines->ahead = LINES_AHEAD;
    lines->own = own < lines->most ? own : lines->most;
    for (uint32_t index = 0; index < lines->most; index++) {
        if (index % LINES_EACH == 0)
            lines->directories[index / LINES_EACH] = call_take();
        store_relaxed(line_id(lines, index), 0);
    }
}

static inline void lines_destroy(struct lines *lines)
{
    const uint32_t count = lines_count(lines);
    for (uint32_t index = 0; index < count; index++) {
        struct call *line = line_at(lines, index);
        if (line)
            call_give(line);
    }
    for (uint32_t index = 0; index < lines->most; index += LINES_EACH)
        call_give(lines->directories[index / LINES_EACH]);
    store_relaxed(&lines->count, 0);
}

/* Adds a line at this place, and returns it; the caller owns it. Returns NULL if
 * another thread has added one there. */
static inline struct call *line_add(struct lines *lines, uint32_t index)
{
    struct call *fresh = call_take();
    uint32_t none = 0;
    store_relaxed(&fresh->cell, CALL_DONE);
    store_relaxed(&fresh->owned, 1);
    fresh->index = index;
    if (compare_exchange_release(line_id(lines, index), &none, fresh->link.id))
        return fresh;
    call_give(fresh);
    return NULL;
}

/* Adds a line at this place, which may be beyond the others. */
static __attribute__((noinline, unused)) struct call *line_add_at(struct lines *lines,
                                                                  uint32_t index)
{
    struct call *line = line_add(lines, index);
    uint32_t count = load_relaxed(&lines->count);
    while (count <= index &&
           !compare_exchange_relaxed(&lines->count, &count, index + 1))
        continue;
    return line;
}

/* Adds a line behind the others. Returns NULL if there are as many as there may be, or
 * if another thread has added one at that place. */
static __attribute__((noinline, unused)) struct call *line_append(struct lines *lines)
{
    if (load_relaxed(&lines->count) >= lines->most)
        return NULL;
    const uint32_t index = fetch_add_relaxed(&lines->count, 1);
    return index < lines->most ? line_add(lines, index) : NULL;
}

/* Takes this line if it is free. */
static inline bool line_own(struct call *line)
{
    uint32_t seen = 0;
    return !load_relaxed(&line->owned) &&
           compare_exchange_acquire(&line->owned, &seen, 1);
}

/* The line at the caller's place, `home`, is in use: takes or adds another one. */
static __attribute__((noinline, unused)) struct call *line_search(struct lines *lines,
                                                                  uint32_t home)
{
    for (;;) {
        const uint32_t count = lines_count(lines);
        for (uint32_t i = 0, index = home; i < count; i++) {
            index = index + 1 < count ? index + 1 : 0;
            struct call *line = line_at(lines, index);
            if (line && line_own(line))
                return line;
        }
        struct call *line = line_append(lines);
        if (line)
            return line;
        if (load_relaxed(&lines->count) >= lines->most)
            yield();
    }
}

/* Returns a line that the caller owns. */
static inline struct call *line_take(struct lines *lines)
{
    const uint32_t count = lines_count(lines), own = lines->own;
    const uint32_t home = (current_thread() - 1) % (count > own ? count : own);
    struct call *line = line_at(lines, home);
    if (unlikely(!line))
        line = line_add_at(lines, home);
    else if (unlikely(!line_own(line)))
        line = NULL;
    return likely(line) ? line : line_search(lines, home);
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
