/* SPDX-License-Identifier: MIT */
/* A heap with four children for each event: half as deep as a binary heap, and siblings
 * share a cache line. */
#include "simulator/events.h"

#include <stdbool.h>
#include <stdlib.h>

struct events events;

static const struct event never = {UINT64_MAX, UINT64_MAX};

enum { CHILDREN = 4, FIRST_SPACE = 4096, LINE = 64 };

/* Allocates space for `space` events, aligned so that siblings share a cache line.
 * Unused entries hold events that never come. */
static void grow(uint32_t space)
{
    const size_t ahead = CHILDREN - 1, all = ahead + space + CHILDREN;
    struct event *block =
        aligned_alloc(LINE, (all * sizeof *block + LINE - 1) / LINE * LINE);
    if (!block)
        abort();
    struct event *heap = block + ahead;
    for (uint32_t i = 0; i < space + CHILDREN; i++)
        heap[i] = i < events.count ? events.heap[i] : never;
    if (events.heap)
        free(events.heap - ahead);
    events.heap = heap;
    events.space = space;
}

void events_start(void)
{
    events.count = 0;
    grow(events.space ? events.space : FIRST_SPACE);
}

/* Branch-free: the branches would be unpredictable. */
__extension__ typedef unsigned __int128 both;
static inline bool before(struct event a, struct event b)
{
    return ((both)a.time << 64 | a.order) < ((both)b.time << 64 | b.order);
}

static inline struct event make_event(uint64_t time, enum event_kind kind,
                                      uint32_t subject)
{
    uint64_t order = events.sequence++ << (SUBJECT_BITS + KIND_BITS);
    return (struct event){time, order | (uint64_t)kind << SUBJECT_BITS | subject};
}

void event_push(uint64_t time, enum event_kind kind, uint32_t subject)
{
    if (events.count == events.space)
        grow(2 * events.space);
    struct event *heap = events.heap;
    const struct event event = make_event(time, kind, subject);
    uint32_t at = events.count++;
    while (at) {
        uint32_t parent = (at - 1) / CHILDREN;
        if (!before(event, heap[parent]))
            break;
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = event;
}

/* Replaces the first event. */
static void sift_down(struct event event)
{
    struct event *heap = events.heap;
    const uint32_t count = events.count;
    uint32_t at = 0;
    for (uint32_t child; (child = at * CHILDREN + 1) < count;) {
        uint32_t one = child + before(heap[child + 1], heap[child]);
        uint32_t other = child + 2 + before(heap[child + 3], heap[child + 2]);
        uint32_t first = before(heap[other], heap[one]) ? other : one;
        if (!before(heap[first], event))
            break;
        heap[at] = heap[first];
        at = first;
    }
    heap[at] = event;
}

struct event event_take(void)
{
    struct event first = events.heap[0];
    if (!events.count)
        return first;
    struct event last = events.heap[--events.count];
    events.heap[events.count] = never;
    if (events.count)
        sift_down(last);
    return first;
}

struct event event_exchange(uint64_t time, enum event_kind kind, uint32_t subject)
{
    struct event event = make_event(time, kind, subject), first = events.heap[0];
    if (before(event, first))
        return event;
    sift_down(event);
    return first;
}
